// Leaks whose cause is at a line that the path does not show: the first argument chooses one. The comments in capital
// letters mark the lines that a report is to name.

import Foundation

// MARK: Sessions that one path closes and another forgets

final class Session: @unchecked Sendable {
  let number: Int
  var onEvent: ((Int) -> Void)?
  init(_ number: Int) { self.number = number }
}

final class Desk: @unchecked Sendable {
  private var sessions: [Int: Session] = [:]

  @inline(never) func open(_ number: Int) {
    let session = Session(number)
    session.onEvent = { [unowned session] in precondition($0 >= session.number) }
    sessions[number] = session
  }

  @inline(never) func serve(_ number: Int) { sessions[number]?.onEvent?(number) }

  @inline(never) func close(_ number: Int) {
    sessions[number] = nil  // CLOSED
  }

  var count: Int { sessions.count }
}

let desk = Desk()

@inline(never) func runDesk() {
  for number in 0..<400 {
    desk.open(number)
    desk.serve(number)
    if number >= 8, (number - 8) % 5 != 0 { desk.close(number - 8) }  // CALLED
  }
}

// MARK: Streams that a hub drops without an end

final class Hub: @unchecked Sendable {
  private var feeds: [Int: AsyncStream<Int>.Continuation] = [:]

  func subscribe(_ number: Int) -> AsyncStream<Int> {
    let (stream, continuation) = AsyncStream<Int>.makeStream()
    feeds[number] = continuation
    continuation.yield(number)
    return stream
  }

  @inline(never) func drop(_ number: Int) {
    feeds[number] = nil  // DROPPED
  }
}

final class Reader: @unchecked Sendable {
  var last = -1
}

let hub = Hub()

func runHub() async {
  for number in 0..<6 {
    let reader = Reader()
    let stream = hub.subscribe(number)
    Task { for await value in stream { reader.last = value } }
    while reader.last < 0 { try? await Task.sleep(for: .milliseconds(2)) }
  }
  // Each waits for its next value by now.
  try? await Task.sleep(for: .milliseconds(100))
  for number in 0..<6 { hub.drop(number) }
}

// MARK: A continuation that is dropped, in a function that the optimiser inlines

final class Delivery: @unchecked Sendable {
  let address: Int
  var place = 0
  init(_ address: Int) { self.address = address }
}

struct Locator {
  func locate(_ address: Int) async -> Int {
    await withCheckedContinuation { continuation in  // AWAITED
      if address < 0 { continuation.resume(returning: address) }
    }
  }
}

@inline(never) func plan(_ delivery: Delivery, _ locator: Locator) async {
  delivery.place = await locator.locate(delivery.address)
  finish(delivery)
}

@inline(never) func finish(_ delivery: Delivery) { print(delivery.address, delivery.place) }

func runPlans() async {
  for number in 0..<6 { Task { await plan(Delivery(number), Locator()) } }
  try? await Task.sleep(for: .milliseconds(100))
}

switch CommandLine.arguments.dropFirst().first {
case "sessions": runDesk()
case "streams": await runHub()
case "plans": await runPlans()
default: print("usage: awaits sessions|streams|plans")
}
print(desk.count)
