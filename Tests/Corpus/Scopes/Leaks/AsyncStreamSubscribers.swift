// A broadcaster keeps a continuation for each subscriber, and with it the task that waits for the next event.

enum FeedEvent: Sendable { case posted(Int) }

final class FeedBroadcaster: Sendable {
  static let shared = FeedBroadcaster()
  private let continuations = Locked<[Int: AsyncStream<FeedEvent>.Continuation]>([:])

  /// `removing`: whether the continuation is removed when its stream has no listener any more.
  func subscribe(_ id: Int, removing: Bool) -> AsyncStream<FeedEvent> {
    let (stream, continuation) = AsyncStream<FeedEvent>.makeStream()
    if removing {
      continuation.onTermination = { [weak self] _ in self?.continuations.with { _ = $0.removeValue(forKey: id) } }
    }
    continuations.with { $0[id] = continuation }
    return stream
  }

  func send(_ event: FeedEvent) {
    for continuation in continuations.with({ Array($0.values) }) { continuation.yield(event) }
  }
}

final class FeedSubscriber: @unchecked Sendable {
  let id: Int
  private var received = 0
  private var task: Task<Void, Never>?

  init(id: Int) { self.id = id }

  func listen(removing: Bool) {
    let events = FeedBroadcaster.shared.subscribe(id, removing: removing)
    task = Task {
      for await case .posted(let number) in events { self.received += number }
    }
  }

  func leave() async {
    task?.cancel()
    await task?.value
    note(received)
  }
}

enum AsyncStreamSubscribers: AsyncFaultyProgram {
  static func faulty() async {
    for id in 0..<12 { await visit(id, leaving: false) }
    FeedBroadcaster.shared.send(.posted(99))
    try? await Task.sleep(for: .milliseconds(20))
  }

  static func correct() async {
    for id in 0..<12 { await visit(id, leaving: true) }
    FeedBroadcaster.shared.send(.posted(99))
    try? await Task.sleep(for: .milliseconds(20))
  }

  @inline(never) private static func visit(_ id: Int, leaving: Bool) async {
    let subscriber = FeedSubscriber(id: id)
    subscriber.listen(removing: leaving)
    for number in 0..<3 { FeedBroadcaster.shared.send(.posted(number)) }
    try? await Task.sleep(for: .milliseconds(3))
    if leaving { await subscriber.leave() }
  }
}
