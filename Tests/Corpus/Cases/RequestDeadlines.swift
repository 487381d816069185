// Requests that each have a deadline, which long sleeps wait for. The answer of every second one gets lost, so that its task waits for ever: what a new task's
// memory held before, when it was another request's, must not make it look held.

final class Inquiry: @unchecked Sendable {
  private let number: Int
  private let lines: [String]

  init(_ number: Int) {
    self.number = number
    lines = (0..<8).map { "line \($0) of the inquiry with the number \(number)" }
  }

  func answer(isLost: Bool) async -> Int {
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      if !isLost { continuation.resume() }
    }
    return number
  }

  func words() async -> Int {
    await Task.yield()
    return lines.reduce(0) { $0 + $1.count }
  }
}

enum RequestDeadlines: FaultyProgram {
  private static let hour: UInt64 = 3_600_000_000_000

  static func faulty() {
    for _ in 0..<2 { sleepLong() }
    for number in 0..<80 { serve(number, isLost: number % 2 == 1) }
    settle()
  }

  static func correct() {
    for _ in 0..<2 { sleepLong() }
    for number in 0..<80 { serve(number, isLost: false) }
    settle()
  }

  /// What has to be done now and then.
  @inline(never) private static func sleepLong() {
    Task.detached {
      try? await Task.sleep(nanoseconds: hour)
      note(1)
    }
  }

  @inline(never) private static func serve(_ number: Int, isLost: Bool) {
    // All that earlier requests took is free again, or waits.
    if number % 8 == 0 { settle() }
    Task.detached {
      let inquiry = Inquiry(number)
      let deadline = Task { () -> Bool in
        do {
          try await Task.sleep(nanoseconds: hour)
          return true
        } catch {
          return false
        }
      }
      let words = await inquiry.words()
      // The time that it would have ended at stays with the timers.
      deadline.cancel()
      if await deadline.value { return }
      note(words + (await inquiry.answer(isLost: isLost)))
    }
  }
}
