// A server in the same process: it answers with JSON, as a real one would.
import Foundation

final class FeedServer: @unchecked Sendable {
  private let lock = NSLock()
  private var subscribers: [Int: AsyncStream<Message>.Continuation] = [:]
  private var nextSubscriber = 0
  private let authors = (1...12).map { Author(id: $0, name: "Author \($0)", avatar: "https://feed.example/avatars/\($0).png") }

  /// A page of the timeline, encoded.
  func page(_ number: Int) -> Data {
    let posts = (0..<20).map { index in
      Post(
        id: number * 20 + index, author: authors[(number + index) % authors.count],
        text: "Post \(index) of page \(number), about nothing in particular", likes: index * 7 % 31,
        tags: ["swift", "linux", "page-\(number)"])
    }
    return try! JSONEncoder().encode(Page(posts: posts, next: number < 3 ? number + 1 : nil))
  }

  func author(_ id: Int) -> Author { authors[id % authors.count] }

  /// Messages of a conversation, as they come. The stream ends when its reader is cancelled.
  func messages(in conversation: Int) -> AsyncStream<Message> {
    AsyncStream { continuation in
      let number = lock.withLock {
        nextSubscriber += 1
        subscribers[nextSubscriber] = continuation
        return nextSubscriber
      }
      continuation.onTermination = { [weak self] _ in
        guard let self else { return }
        _ = self.lock.withLock { self.subscribers.removeValue(forKey: number) }
      }
      continuation.yield(Message(conversation: conversation, sender: authors[0], text: "Hello there"))
    }
  }

  var subscriberCount: Int { lock.withLock { subscribers.count } }
}
