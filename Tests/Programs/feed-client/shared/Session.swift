// The signed-in user's session: lives as long as the program.
import Foundation

extension Notification.Name {
  static let likesChanged = Notification.Name("likesChanged")
}

final class Session {
  let server = FeedServer()
  let images = ImageCache(limit: 64)
  private(set) var likes: [Int: Int] = [:]

  func like(_ post: Post) {
    likes[post.id, default: post.likes] += 1
    NotificationCenter.default.post(name: .likesChanged, object: nil, userInfo: ["post": post.id])
  }
}
