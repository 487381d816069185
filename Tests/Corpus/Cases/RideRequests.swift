// Rides that keep the handle of their request. The request's continuation was dropped, so that the handle can only cancel it, in vain.

private final class Ride: @unchecked Sendable {
  private var request: Task<Int, Never>?

  func send(_ offers: RideOffers) { request = Task.detached { await offers.next() } }

  func price() async -> Int { await request?.value ?? 0 }
}

private actor RideOffers {
  private var waiting: [CheckedContinuation<Int, Never>] = []
  private let keeps: Bool
  private(set) var asked = 0

  init(keeps: Bool) { self.keeps = keeps }

  func next() async -> Int {
    await withCheckedContinuation { continuation in
      asked += 1
      if keeps { waiting.append(continuation) }
    }
  }
}

enum RideRequests: FaultyProgram {
  static func faulty() { order(RideOffers(keeps: false)) }
  static func correct() { order(RideOffers(keeps: true)) }

  @inline(never) private static func order(_ offers: RideOffers) {
    rides = (0..<6).map { _ in Ride() }
    desk = offers
    for ride in rides { ride.send(offers) }
    waitFor { while await offers.asked < 6 { await Task.yield() } }
    settle()
  }
}

nonisolated(unsafe) private var rides: [Ride] = []
nonisolated(unsafe) private var desk: RideOffers?
