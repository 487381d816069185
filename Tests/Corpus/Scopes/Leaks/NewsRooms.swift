// Readers of a room each have a stream. Those that go away are not removed, and news goes on after the last has come.

final class NewsReader: Sendable {
  let number: Int
  let continuation: AsyncStream<String>.Continuation

  init(number: Int, continuation: AsyncStream<String>.Continuation) {
    (self.number, self.continuation) = (number, continuation)
  }
}

actor NewsRoom {
  private var readers: [Int: NewsReader] = [:]
  private var visits = 0

  func join() -> (number: Int, news: AsyncStream<String>) {
    visits += 1
    let (news, continuation) = AsyncStream.makeStream(of: String.self)
    readers[visits] = NewsReader(number: visits, continuation: continuation)
    return (visits, news)
  }

  func leave(_ number: Int) { readers.removeValue(forKey: number)?.continuation.finish() }

  func post(_ text: String) {
    for reader in readers.values { reader.continuation.yield("\(reader.number): \(text)") }
  }
}

enum NewsRooms: AsyncFaultyProgram {
  private static let room = NewsRoom()

  static func faulty() async { await serve(isRemoved: false) }
  static func correct() async { await serve(isRemoved: true) }

  private static func serve(isRemoved: Bool) async {
    for _ in 0..<60 {
      let (number, news) = await room.join()
      let connection = Task.detached {
        for await text in news where text.hasSuffix("break") { break }
        if isRemoved { await room.leave(number) }
      }
      for _ in 0..<4 { await room.post("news") }
      await room.post("break")
      await connection.value
    }
    for _ in 0..<30 { await room.post("late news") }
  }
}
