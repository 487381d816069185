// Guests stay until their bell rings, each in a task. A hotel forgets some without ringing. If it rings, the bell's queue may
// still be busy when the program ends. Two threads still have words of forgotten guests on their stacks.

import Dispatch

private final class Bell: Sendable {
  private let waiting = Locked([Int: CheckedContinuation<Void, Never>]())
  private let queue = DispatchQueue(label: "bell")

  func wait(_ number: Int) async {
    await withCheckedContinuation { continuation in waiting.with { $0[number] = continuation } }
  }

  func isAwaited(_ number: Int) -> Bool { waiting.with { $0[number] != nil } }

  func ring(_ number: Int) {
    guard let guest = waiting.with({ $0.removeValue(forKey: number) }) else { return }
    queue.async { guest.resume() }
  }

  func hold() { queue.async { DispatchSemaphore(value: 0).wait() } }
}

private final class Guest: Sendable {
  private let nights = Locked(0)

  func stay(_ number: Int, _ bell: Bell) -> Task<Void, Never> {
    Task {
      await bell.wait(number)
      self.nights.with { $0 += 1 }
    }
  }
}

@MainActor
private final class Hotel {
  let bell = Bell()
  private var guests: [Int: Guest] = [:]

  func admit(_ number: Int) async -> Task<Void, Never> {
    let guest = Guest()
    guests[number] = guest
    let stay = guest.stay(number, bell)
    while !bell.isAwaited(number) { await Task.yield() }
    return stay
  }

  @inline(never) func dismiss(_ number: Int) {
    guests[number] = nil
    bell.ring(number)
  }

  @inline(never) func forget(_ number: Int) { guests[number] = nil }

  func leaveWord(of number: Int) {
    guard let guest = guests[number] else { return }
    // Only the thread's stack has the address itself.
    let inverted = ~UInt(bitPattern: Unmanaged.passUnretained(guest).toOpaque())
    let left = DispatchSemaphore(value: 0)
    DispatchQueue(label: "words").async {
      withUnsafeTemporaryAllocation(of: UInt.self, capacity: 8) { words in
        words.initialize(repeating: ~inverted)
        left.signal()
        DispatchSemaphore(value: 0).wait()
      }
    }
    left.wait()
  }
}

enum LateFarewells: AsyncFaultyProgram {
  @MainActor private static let hotel = Hotel()

  @MainActor static func faulty() async {
    await receive()
    for number in 82...83 { hotel.leaveWord(of: number) }
    for number in 81...88 { hotel.forget(number) }
  }

  @MainActor static func correct() async {
    await receive()
    hotel.bell.hold()
    for number in 81...88 { hotel.dismiss(number) }
  }

  /// The last eight are still there.
  @MainActor private static func receive() async {
    var stays: [Task<Void, Never>] = []
    for number in 1...88 {
      stays.append(await hotel.admit(number))
      guard number > 8 else { continue }
      hotel.dismiss(number - 8)
      await stays.removeFirst().value
    }
  }
}
