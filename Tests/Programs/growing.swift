// Leaks that grow with the work. Usage: growing WAY, or growing WAY clean
import Dispatch
import Foundation
import Observation
import Synchronization

let isClean = CommandLine.arguments.count > 2

// MARK: One field in many holders

final class Message {
  let text: String
  init(_ number: Int) { text = "a message with the number \(number)" }
}
final class Room {
  private var log: [Message] = []
  func say(_ message: Message) {
    log.append(message)
    if isClean, log.count > 5 { log.removeFirst() }
  }
}
nonisolated(unsafe) let rooms = (0..<12).map { _ in Room() }
func say(_ number: Int) { rooms[number % rooms.count].say(Message(number)) }

// MARK: A chain of two classes

class Handler { func handle(_ number: Int) -> Int { number } }
final class Logging: Handler {
  let next: Handler
  init(_ next: Handler) { self.next = next }
}
final class Timing: Handler {
  let next: Handler
  init(_ next: Handler) { self.next = next }
}
nonisolated(unsafe) var handler = Handler()
func answer(_ number: Int) -> Int {
  let outer = Timing(Logging(isClean ? Handler() : handler))
  handler = outer
  return (0..<40).map { Message($0 + number) }.reduce(outer.handle(number)) { $0 + $1.text.utf8.count }
}

// MARK: Streams in a dictionary

final class Hub {
  private var continuations: [Int: AsyncStream<Int>.Continuation] = [:]
  func subscribe(_ number: Int) -> AsyncStream<Int> {
    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
    continuations[number] = continuation
    if isClean { continuations.removeValue(forKey: number - 3)?.finish() }
    return stream
  }
}
nonisolated(unsafe) let hub = Hub()

// MARK: Views that observe a model

@Observable final class Model { var count = 0 }
nonisolated(unsafe) let model = Model()
final class Badge {
  private var shown = 0
  func observe() {
    withObservationTracking {
      shown = model.count
    } onChange: { [self] in
      if !isClean { DispatchQueue.main.async { self.observe() } }
    }
  }
}
func showBadge() { Badge().observe() }

// MARK: Tasks that keep their owners

let sent = Atomic<Int>(0)
final class Uplink: Sendable {
  func start() {
    if isClean {
      Task { [weak self] in while self?.send() != nil { try? await Task.sleep(for: .milliseconds(2)) } }
    } else {
      Task { while send() != nil { try? await Task.sleep(for: .milliseconds(2)) } }
    }
  }
  private func send() -> Bool? {
    sent.add(1, ordering: .relaxed)
    return Task.isCancelled ? nil : true
  }
}
func connect() { Uplink().start() }

// MARK: Unread children

func serve(_ count: Int = 400) async {
  await withTaskGroup(of: Int.self) { group in
    for number in 0..<count {
      group.addTask {
        await Task.yield()
        return number
      }
      if isClean { _ = await group.next() }
      await Task.yield()
    }
    try? await Task.sleep(for: .milliseconds(20))
    kill(getpid(), SIGTERM)
    try? await Task.sleep(for: .seconds(60))
  }
}

switch CommandLine.arguments.dropFirst().first {
case "rooms": for number in 0..<1000 { say(number) }
case "chain": for number in 0..<300 { _ = answer(number) }
case "streams": for number in 0..<300 { _ = hub.subscribe(number) }
case "observation":
  for _ in 0..<8 {
    showBadge()
    model.count += 1
    try? await Task.sleep(for: .milliseconds(10))
  }
case "tasks":
  // Clean ones end at once.
  for number in 1...5 {
    connect()
    while !isClean, sent.load(ordering: .relaxed) < 20 * number { try? await Task.sleep(for: .milliseconds(1)) }
  }
case "children": await serve()
// So few are not suspected.
case "few-children": await serve(20)
default: exit(64)
}
