// Loses tasks that have passed an actor's queue, children of groups, and parents of children, beside tasks that go on.
// Prints "ready PROCESS", and stays.

import Foundation

final class Ticket: Sendable {
  let number: Int
  let note = "a note that is too long to stand in the string itself"
  init(_ number: Int) { self.number = number }
}

nonisolated(unsafe) var kept: UnsafeContinuation<Void, Never>?

actor Desk {
  var open = 0

  /// Never returns: only the first ticket's continuation is kept.
  func lose(_ ticket: Ticket) async {
    open += ticket.note.count
    await withUnsafeContinuation { if ticket.number == 0 { kept = $0 } }
    open -= ticket.number
  }

  /// Keeps later callers waiting in the actor's queue.
  func pause() { Thread.sleep(forTimeInterval: 0.5) }

  func serve(_ ticket: Ticket) async -> Int {
    open += 1
    await Task.yield()
    open -= 1
    return ticket.number
  }
}

let desk = Desk()

func loseChildren(_ number: Int) async -> Int {
  await withTaskGroup(of: Int.self) { group in
    for child in 0..<3 {
      group.addTask {
        let ticket = Ticket(number + child)
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        return ticket.number
      }
    }
    return await group.reduce(0, +)
  }
}

func lose(_ ticket: Ticket) async -> Int {
  await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
  return ticket.number
}

func loseBoth(_ number: Int) async -> Int {
  async let first = lose(Ticket(number))
  async let second = lose(Ticket(number + 1))
  return await first + second
}

/// Words like those that an earlier use of the memory leaves. Nothing else refers to these tasks.
nonisolated(unsafe) let leftOver = UnsafeMutablePointer<UInt>.allocate(capacity: 6)

/// Waits for children that sleep.
func rest(_ number: Int) async -> Int {
  let ticket = Ticket(number)
  async let first = sleepLong(ticket)
  async let second = sleepLong(ticket)
  return await first + second
}

func sleepLong(_ ticket: Ticket) async -> Int {
  try? await Task.sleep(nanoseconds: 3_600_000_000_000)
  return ticket.number
}

// Not in main, whose frame would keep stale handles.
@inline(never) func begin() {
  for number in 0..<12 { Task.detached { await desk.lose(Ticket(number)) } }
  for number in 0..<4 { Task.detached { print(await loseChildren(number)) } }
  for number in 0..<6 {
    leftOver[number] = unsafeBitCast(Task.detached { await loseBoth(number) }, to: UInt.self)
  }
  for number in 0..<6 {
    let resting = Task.detached { await rest(number) }
    Task.detached { print(await resting.value) }
  }
  for number in 0..<100 { Task.detached { await desk.serve(Ticket(number)) } }
}

@main struct Main {
  static func main() {
    Task.detached { await desk.pause() }
    Thread.sleep(forTimeInterval: 0.1)
    begin()
    // By then all wait.
    Thread.sleep(forTimeInterval: 2)
    print("ready \(ProcessInfo.processInfo.processIdentifier)")
    fflush(stdout)
    Thread.sleep(forTimeInterval: 3600)
  }
}
