// Shows who is online. A repeating timer refreshes the list.
import Foundation

final class PresenceViewModel: ViewModel {
  private let session: Session
  private(set) var online: Set<Int> = []
  private var rounds = 0

  init(session: Session) {
    self.session = session
    Census.shared.born(Self.self)
  }

  deinit { Census.shared.died(Self.self) }

  func screenDidOpen() {
    refresh()
    let timer = Timer.scheduledTimer(withTimeInterval: 0.05, repeats: true) { _ in
      self.refresh()
    }
    timer.tolerance = 0.01
  }

  func screenDidClose() {}

  private func refresh() {
    rounds += 1
    online = Set((0..<5).map { session.server.author(rounds * 3 + $0).id })
  }
}
