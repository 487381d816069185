// A user's profile: counts the likes that come in while it is shown.
import Foundation

final class ProfileViewModel: ViewModel {
  private let session: Session
  private let author: Author
  private var observer: (any NSObjectProtocol)?
  private(set) var likes = 0

  init(session: Session) {
    self.session = session
    author = session.server.author(3)
    Census.shared.born(Self.self)
  }

  deinit { Census.shared.died(Self.self) }

  func screenDidOpen() {
    _ = session.images.image(at: author.avatar)
    observer = NotificationCenter.default.addObserver(forName: .likesChanged, object: nil, queue: nil) { _ in
      self.likes += 1
    }
  }

  func screenDidClose() {
    if let observer { NotificationCenter.default.removeObserver(observer) }
    observer = nil
  }
}
