// A stream's continuation, stored in the object that its termination handler captures.

final class PriceFeed: @unchecked Sendable {
  let prices: AsyncStream<Int>
  private let continuation: AsyncStream<Int>.Continuation
  private(set) var isStopped = false

  init() { (prices, continuation) = AsyncStream<Int>.makeStream() }

  func start() {
    continuation.onTermination = { _ in self.isStopped = true }
  }

  func publish(_ price: Int) { continuation.yield(price) }
  func stop() { continuation.finish() }
}

enum StreamTermination: FaultyProgram {
  static func faulty() { for price in 0..<5 { subscribe(price) } }
  static func correct() { for price in 0..<5 { subscribeAndStop(price) } }

  @inline(never) private static func subscribe(_ price: Int) {
    let feed = PriceFeed()
    feed.start()
    feed.publish(price)
    note(feed.isStopped ? 1 : 0)
  }

  @inline(never) private static func subscribeAndStop(_ price: Int) {
    let feed = PriceFeed()
    feed.start()
    feed.publish(price)
    feed.stop()
    note(feed.isStopped ? 1 : 0)
  }
}
