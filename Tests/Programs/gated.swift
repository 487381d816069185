// Leaks by its arguments: `cycles=N` parents that hold themselves, `lost=N` forgotten objects, `library=N` strings that
// Foundation loses, then `exit=N`, `signal=N` or `wait` for a signal.
// `tell=PATH` makes a file, so that others see that it has come this far.
// At SIGTERM: `ignore` goes on, `abort` aborts, and `stuck` calls exit and never returns from an exit handler.

import Foundation

final class Parent {
  var again: (() -> Void)?
  func tie() { again = { self.again = nil } }
}

final class Forgotten {
  var number = 0
}

@inline(never) func makeCycles(_ count: Int) {
  for _ in 0..<count { Parent().tie() }
}

@inline(never) func lose(_ count: Int) {
  for _ in 0..<count { _ = Unmanaged.passRetained(Forgotten()) }
}

/// Foundation loses the memory of each (swift-corelibs-foundation 6.3).
@inline(never) func loseStrings(_ count: Int) -> Int {
  (0..<count).reduce(0) { sum, number in
    sum + (NSString(string: "string number \(number)").utf8String.map { Int($0[0]) } ?? 0)
  }
}

/// Writes over what finished calls left on the stack.
@inline(never) func clearStack() -> Int {
  withUnsafeTemporaryAllocation(of: Int.self, capacity: 4096) { words in
    words.initialize(repeating: 1)
    return words.reduce(0, +)
  }
}

@main struct Gated {
  static func main() {
    print("begins")
    for argument in CommandLine.arguments.dropFirst() {
      let parts = argument.split(separator: "=")
      let number = parts.count == 2 ? Int32(parts[1]) ?? 0 : 0
      switch parts[0] {
      case "cycles": makeCycles(Int(number))
      case "lost": lose(Int(number))
      case "library": if loseStrings(Int(number)) < 0 { exit(1) }
      default: break
      }
      guard clearStack() == 4096 else { fatalError() }
      switch parts[0] {
      case "exit":
        print("ends")
        exit(number)
      case "tell": close(creat(String(parts[1]), 0o600))
      case "signal": kill(getpid(), number)
      case "ignore": signal(SIGTERM, SIG_IGN)
      case "abort": signal(SIGTERM) { _ in abort() }
      case "stuck":
        atexit { while true { sleep(100) } }
        signal(SIGTERM) { _ in exit(0) }
      case "wait":
        FileHandle.standardError.write(Data("ready\n".utf8))
        while true { sleep(100) }
      default: break
      }
    }
    print("ends")
  }
}
