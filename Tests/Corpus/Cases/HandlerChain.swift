// A closure that wraps another one; both capture the owner.

final class RequestPipeline {
  private var handler: ((Int) -> Int)?
  private var requests = 0

  func assemble() {
    let base: (Int) -> Int = { $0 + self.requests }
    handler = wrap(base, limit: 9)
  }

  func assembleWeakly() {
    let base: (Int) -> Int = { [weak self] in $0 + (self?.requests ?? 0) }
    handler = wrap(base, limit: 9)
  }

  @inline(never) private func wrap(_ next: @escaping (Int) -> Int, limit: Int) -> (Int) -> Int {
    { $0 > limit ? limit : next($0) }
  }

  func handle(_ value: Int) {
    requests += 1
    note(handler?(value) ?? 0)
  }
}

enum HandlerChain: FaultyProgram {
  static func faulty() { for value in 0..<6 { serve(value) } }
  static func correct() { for value in 0..<6 { serveWeakly(value) } }

  @inline(never) private static func serve(_ value: Int) {
    let pipeline = RequestPipeline()
    pipeline.assemble()
    pipeline.handle(value)
  }

  @inline(never) private static func serveWeakly(_ value: Int) {
    let pipeline = RequestPipeline()
    pipeline.assembleWeakly()
    pipeline.handle(value)
  }
}
