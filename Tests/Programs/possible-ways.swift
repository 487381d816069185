// Ways to objects that no reference keeps. Usage: possible-ways WAY
import Dispatch
import Glibc
import Synchronization

// MARK: Numbers

final class Session {
  let number: Int
  init(_ number: Int) { self.number = number }
}

nonisolated(unsafe) var table: [Int: UInt] = [:]
nonisolated(unsafe) var marked: [UInt64] = []

/// Keeps the addresses of sessions as numbers, some with a version in the highest 16 bits.
func keepNumbers() {
  for number in 0..<20 {
    let address = UInt(bitPattern: Unmanaged.passRetained(Session(number)).toOpaque())
    if number % 2 == 0 { table[number] = address } else { marked.append(UInt64(address) | 0x8001 << 48) }
  }
}

nonisolated(unsafe) var records: [UInt8] = []
let buffer = UnsafeMutableRawPointer.allocate(byteCount: 1 << 16, alignment: 8)

/// Keeps the addresses of sessions in records of nine bytes, so that most begin at no multiple of eight. There are so
/// many that some lie across the end of a page.
func keepRecords(inArray: Bool) {
  buffer.initializeMemory(as: UInt8.self, repeating: 0, count: 1 << 16)
  for number in 0..<1000 {
    let address = UInt(bitPattern: Unmanaged.passRetained(Session(number)).toOpaque())
    if inArray {
      records.append(UInt8(truncatingIfNeeded: number))
      withUnsafeBytes(of: address) { records.append(contentsOf: $0) }
    } else {
      buffer.storeBytes(of: UInt8(truncatingIfNeeded: number), toByteOffset: 9 * number, as: UInt8.self)
      buffer.storeBytes(of: address, toByteOffset: 9 * number + 1, as: UInt.self)
    }
  }
}

// MARK: Captured variables

struct Count {
  var number = 1
  var isOver = false
}
struct Links {
  var first: UnsafeRawPointer?
  var second: UnsafeRawPointer?
}

nonisolated(unsafe) var calls: [(UnsafeRawPointer?) -> Bool] = []

/// Keeps variables that closures capture. The compiler may describe the boxes of all of them by one of their types.
func keepBoxes() {
  for _ in 0..<10 {
    var count = Count()
    calls.append {
      count.number += 1
      count.isOver = $0 == nil
      return count.isOver
    }
    var links = Links()
    calls.append {
      links.second = $0
      return links.first == links.second
    }
    _ = calls[calls.count - 2](nil)
    _ = calls[calls.count - 1](Unmanaged.passRetained(Session(1)).toOpaque())
  }
}

// MARK: Weak references

nonisolated(unsafe) weak var lastRing: Ring?
let rings = UnsafeMutablePointer<Observer>.allocate(capacity: 10)

struct Observer { weak var ring: Ring? }

final class Ring {
  var next: Ring?
  var number: UInt = 0
}

/// Keeps weak references in a variable and in memory of malloc to rings that nothing else leads to.
func keepRings() {
  for number in 0..<10 {
    let ring = Ring()
    ring.next = ring
    ring.number = UInt(bitPattern: Unmanaged.passRetained(Session(number)).toOpaque()) | 1
    (rings + number).initialize(to: Observer(ring: ring))
    lastRing = ring
  }
}

final class Ticker: Sendable {
  private let callbacks = Mutex<[@Sendable (Int) -> Void]>([])
  func onTick(_ body: @escaping @Sendable (Int) -> Void) { callbacks.withLock { $0.append(body) } }
  func tick(_ number: Int) { for body in callbacks.withLock({ $0 }) { body(number) } }
}

let ticker = Ticker()
let handled = Atomic<Int>(0)

/// Its task keeps it. The ticker knows it weakly, and resumes the task.
final class Feed: Sendable {
  private let stream: AsyncStream<Int>
  private let continuation: AsyncStream<Int>.Continuation
  init() { (stream, continuation) = AsyncStream.makeStream() }
  func start() {
    ticker.onTick { [weak self] number in self?.continuation.yield(number) }
    Task { for await _ in self.stream { handled.add(1, ordering: .relaxed) } }
  }
}

@inline(never) func openFeed() { Feed().start() }

/// Waits until each feed has handled a tick, and waits for the next.
func feed() async {
  for _ in 0..<5 { openFeed() }
  ticker.tick(1)
  while handled.load(ordering: .relaxed) < 5 { try? await Task.sleep(for: .milliseconds(1)) }
  try? await Task.sleep(for: .milliseconds(50))
}

// MARK: Ends that wait

let ended = Atomic<Int>(0)

@MainActor final class Panel {
  private let title: String
  nonisolated init(_ title: String) { self.title = title }
  isolated deinit { ended.add(title.count, ordering: .relaxed) }
}

/// Panels end on other threads while the main thread is busy.
func endPanels() {
  let done = DispatchSemaphore(value: 0)
  for number in 0..<6 {
    DispatchQueue.global().async {
      _ = Panel("a panel with a long title, number \(number)")
      done.signal()
    }
  }
  for _ in 0..<6 { done.wait() }
}

// MARK: Finished tasks

/// Retains the running task, and never gives the reference back.
func ticket() -> Int {
  withUnsafeCurrentTask { task in
    guard let task else { return 0 }
    return Int(bitPattern: Unmanaged.passRetained(unsafeBitCast(task, to: AnyObject.self)).toOpaque()) >> 4
  }
}

func runTickets() async {
  for _ in 0..<25 {
    let task = Task { () -> Bool in
      let number = ticket()
      await Task.yield()
      return number != 0
    }
    _ = await task.value
  }
}

switch CommandLine.arguments.dropFirst().first {
case "numbers": keepNumbers()
case "array-records": keepRecords(inArray: true)
case "buffer-records": keepRecords(inArray: false)
case "boxes": keepBoxes()
case "rings": keepRings()
case "weak-feeds": await feed()
case "pending-ends": endPanels()
case "finished-tasks": await runTickets()
default: exit(64)
}
exit(0)
