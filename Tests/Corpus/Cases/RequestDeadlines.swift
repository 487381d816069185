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

  static func faulty() { serve { $0 % 2 == 1 } }

  static func correct() { serve { _ in false } }

  private static func serve(isLost: (Int) -> Bool) {
    for _ in 0..<2 { sleepLong() }
    var deadlines: [Task<Void, Never>] = []
    for round in 0..<10 {
      let numbers = round * 8..<round * 8 + 8
      for number in numbers { receive(number, isLost: isLost(number)) }
      settle()
      // Their sleeps take what the requests of the round before gave back, whose frames requests of this round have now.
      for number in numbers { deadlines.append(watch(number)) }
      settle()
      // The times that they would have ended at stay with the timers.
      for deadline in deadlines.suffix(numbers.count) { deadline.cancel() }
      settle()
    }
  }

  /// What has to be done now and then.
  @inline(never) private static func sleepLong() {
    Task.detached {
      try? await Task.sleep(nanoseconds: hour)
      note(1)
    }
  }

  @inline(never) private static func watch(_ number: Int) -> Task<Void, Never> {
    Task.detached {
      do {
        try await Task.sleep(nanoseconds: hour)
        note(number)
      } catch {}
    }
  }

  @inline(never) private static func receive(_ number: Int, isLost: Bool) {
    Task.detached {
      let inquiry = Inquiry(number)
      note(await inquiry.words())
      note(await inquiry.answer(isLost: isLost))
    }
  }
}
