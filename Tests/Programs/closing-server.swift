// A server that keeps an entry for each request, and releases all of them when it ends: after SIGTERM, which it sends
// itself and handles ("handler", "source"), or without it ("none"). With "goes-on" it serves more after the signal. With
// "long-close" it uses its entries far more often in the end than before, and allocates nothing.
import Dispatch
import Glibc

final class Entry {
  let number: Int
  init(_ number: Int) { self.number = number }
}

final class Registry {
  private var entries: [Int: Entry] = [:]
  @inline(never) func add(_ number: Int) { entries[number] = Entry(number) }
  func close() { entries = [:] }
  func touchAll() { for entry in entries.values { Unmanaged.passUnretained(entry).retain().release() } }
}

let registry = Registry()
let queue = DispatchQueue(label: "requests")
nonisolated(unsafe) var wasTold: sig_atomic_t = 0

@inline(never) func serve(_ number: Int) {
  registry.add(number)
  for round in 0..<20 { _ = [Int](repeating: round, count: 10 + number % 7) }
}

for number in 0..<120 { queue.sync { serve(number) } }
switch CommandLine.arguments.last {
case "handler", "goes-on", "long-close":
  signal(SIGTERM) { _ in wasTold = 1 }
  kill(getpid(), SIGTERM)
  while wasTold == 0 { usleep(1000) }
case "source":
  // As servers of swift-service-lifecycle do: libdispatch reads the signal from a descriptor.
  signal(SIGTERM, SIG_IGN)
  let source = DispatchSource.makeSignalSource(signal: SIGTERM, queue: queue)
  let told = DispatchSemaphore(value: 0)
  source.setEventHandler { told.signal() }
  source.activate()
  queue.sync {}
  usleep(20_000)
  kill(getpid(), SIGTERM)
  told.wait()
default: break
}
if CommandLine.arguments.last == "goes-on" {
  for number in 0..<120 { queue.sync { serve(number) } }
}
if CommandLine.arguments.last == "long-close" {
  for _ in 0..<500 { registry.touchAll() }
}
queue.sync { registry.close() }
