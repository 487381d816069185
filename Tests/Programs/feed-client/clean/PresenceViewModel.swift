// Who is online: asked for again and again by a timer.
import Foundation

final class PresenceViewModel: ViewModel {
  private let session: Session
  private(set) var online: Set<Int> = []
  private var rounds = 0
  private var timer: Timer?

  init(session: Session) {
    self.session = session
    Census.shared.born(Self.self)
  }

  deinit { Census.shared.died(Self.self) }

  func screenDidOpen() {
    refresh()
    let timer = Timer.scheduledTimer(withTimeInterval: 0.05, repeats: true) { [weak self] _ in
      self?.refresh()
    }
    timer.tolerance = 0.01
    self.timer = timer
  }

  func screenDidClose() {
    timer?.invalidate()
    timer = nil
  }

  private func refresh() {
    rounds += 1
    online = Set((0..<5).map { session.server.author(rounds * 3 + $0).id })
  }
}
