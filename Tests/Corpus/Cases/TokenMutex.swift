// State inside a mutex that holds a closure over the mutex's owner.
import Synchronization

final class TokenStore: Sendable {
  struct State {
    var token = 1
    var onExpiry: (() -> Void)?
  }

  private let state = Mutex(State())

  func refresh() {
    state.withLock { $0.onExpiry = { self.invalidate() } }
  }

  func invalidate() {
    state.withLock {
      $0.token += 1
      $0.onExpiry = nil
    }
  }

  var token: Int { state.withLock { $0.token } }
}

enum TokenMutex: FaultyProgram {
  static func faulty() { for _ in 0..<4 { logIn() } }
  static func correct() { for _ in 0..<4 { logInAndExpire() } }

  @inline(never) private static func logIn() {
    let store = TokenStore()
    store.refresh()
    note(store.token)
  }

  @inline(never) private static func logInAndExpire() {
    let store = TokenStore()
    store.refresh()
    note(store.token)
    store.invalidate()
  }
}
