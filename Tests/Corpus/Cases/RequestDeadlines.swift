// Requests that each have a deadline, which long sleeps wait for. The answer of every second one gets lost, so that its task waits for ever: what the memory of a
// new task held before must not make it look held.

import Glibc

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
      list(numbers.map { receive($0, isLost: isLost($0)) })
      settle()
      // They take the memory of the lists.
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

  /// Returns the address of the task, which nobody keeps.
  @inline(never) private static func receive(_ number: Int, isLost: Bool) -> UInt {
    let task = Task.detached {
      let inquiry = Inquiry(number)
      note(await inquiry.words())
      note(await inquiry.answer(isLost: isLost))
    }
    return unsafeBitCast(task, to: UInt.self)
  }

  /// Lists the requests in memory of the sizes that tasks have, and gives it back.
  private static func list(_ requests: [UInt]) {
    let lists = (0..<600).map { write(requests, from: $0, count: 32 + $0 % 12) }
    for list in lists { giveBack(list) }
  }

  @inline(never) private static func write(_ requests: [UInt], from first: Int, count: Int) -> UnsafeMutableRawPointer? {
    let list = malloc(count * MemoryLayout<UInt>.stride)
    for index in 0..<count {
      list?.storeBytes(of: requests[(first + index) % requests.count], toByteOffset: index * MemoryLayout<UInt>.stride, as: UInt.self)
    }
    return list
  }

  @inline(never) private static func giveBack(_ list: UnsafeMutableRawPointer?) { free(list) }
}
