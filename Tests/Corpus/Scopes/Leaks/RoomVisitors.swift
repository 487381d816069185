// Visitors of a room listen to its news, each in a task. The room shows some out, and does not cancel their tasks.

private actor RoomNews {
  private var listeners: [Int: AsyncStream<Int>.Continuation] = [:]
  private var count = 0

  func listen() -> AsyncStream<Int> {
    count += 1
    let number = count
    let (news, listener) = AsyncStream.makeStream(of: Int.self)
    listener.onTermination = { [weak self] _ in
      Task { await self?.forget(number) }
    }
    listeners[number] = listener
    return news
  }

  private func forget(_ number: Int) { listeners[number] = nil }

  func post(_ number: Int) {
    for listener in listeners.values { listener.yield(number) }
  }
}

private final class RoomVisitor: @unchecked Sendable {
  private let heard = Locked(0)
  private var task: Task<Void, Never>?

  func enter(_ news: RoomNews) async {
    let stream = await news.listen()
    task = Task {
      for await number in stream { self.heard.with { $0 += number } }
    }
  }

  func leave() async {
    task?.cancel()
    await task?.value
    note(heard.with { $0 })
  }
}

@MainActor
private final class Room {
  private let news = RoomNews()
  private var visitors: [Int: RoomVisitor] = [:]

  func admit(_ number: Int) async {
    let visitor = RoomVisitor()
    await visitor.enter(news)
    visitors[number] = visitor
    await news.post(number)
  }

  func dismiss(_ number: Int) async { await visitors.removeValue(forKey: number)?.leave() }

  func showOut(_ number: Int) { visitors[number] = nil }
}

enum RoomVisitors: AsyncFaultyProgram {
  @MainActor private static let room = Room()

  static func faulty() async { await receive { await room.showOut($0) } }
  static func correct() async { await receive { await room.dismiss($0) } }

  /// Three stay at the end.
  private static func receive(_ end: (Int) async -> Void) async {
    for number in 1...40 {
      await room.admit(number)
      if number > 3 {
        if number % 8 == 0 { await end(number - 3) } else { await room.dismiss(number - 3) }
      }
    }
  }
}
