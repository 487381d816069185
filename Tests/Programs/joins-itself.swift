// Has itself recorded while it runs, and makes objects before, during and after each recording.
// Usage: joins-itself LIBRARY SETTINGS COUNT

import Glibc

final class Ticket {
  var next: Ticket?
  var bytes: (UInt64, UInt64) = (0, 0)
  init(_ next: Ticket?) { self.next = next }
}

@inline(never) func makeTickets(_ count: Int) {
  var kept: Ticket?
  for index in 0..<count { kept = Ticket(index % 8 == 0 ? nil : kept) }
  withExtendedLifetime(kept) {}
}

let count = Int(CommandLine.arguments[3])!
guard let library = dlopen(CommandLine.arguments[1], RTLD_NOW | RTLD_LOCAL) else { fatalError(String(cString: dlerror())) }
typealias Attach = @convention(c) (UnsafePointer<CChar>) -> Int32
typealias Detach = @convention(c) () -> Int32
let attach = unsafeBitCast(dlsym(library, "leaktrace_attach"), to: Attach.self)
let detach = unsafeBitCast(dlsym(library, "leaktrace_detach"), to: Detach.self)
let early = Ticket(nil)
makeTickets(count)
for time in 1...3 {
  guard attach(CommandLine.arguments[2].replacing("%d", with: "\(time)")) == 0 else { exit(2) }
  makeTickets(count)
  early.next = Ticket(nil)
  guard detach() == 0 else { exit(3) }
  makeTickets(count)
}
print("done")
