// The timeline: pages of posts, and a closure that is called for new ones.
import Foundation

final class TimelineViewModel: ViewModel {
  private let session: Session
  private(set) var posts: [Post] = []
  private var onPage: ((Page) -> Void)?

  init(session: Session) {
    self.session = session
    Census.shared.born(Self.self)
  }

  deinit { Census.shared.died(Self.self) }

  func screenDidOpen() {
    onPage = { page in
      self.posts += page.posts
    }
    load(0)
    if let first = posts.first { session.like(first) }
  }

  func screenDidClose() {}

  private func load(_ number: Int) {
    guard let page = try? JSONDecoder().decode(Page.self, from: session.server.page(number)) else { return }
    for post in page.posts { _ = session.images.image(at: post.author.avatar) }
    onPage?(page)
    if let next = page.next { load(next) }
  }
}
