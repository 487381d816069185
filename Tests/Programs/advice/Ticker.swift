// A stream that tells its maker when it ends, and keeps it until then.

final class Ticker: @unchecked Sendable {
  let prices: AsyncStream<Int>
  private let continuation: AsyncStream<Int>.Continuation
  private var isWatched = true

  init() { (prices, continuation) = AsyncStream.makeStream() }

  @inline(never) func start() {
    #if MENDED
      continuation.onTermination = { [weak self] _ in self?.isWatched = false }
    #else
      continuation.onTermination = { _ in self.isWatched = false }  // to change
    #endif
    continuation.yield(1)
  }

  @inline(never) static func watch() {
    for _ in 0..<4 {
      let ticker = Ticker()
      ticker.start()
    }
  }
}
