// A cycle through Result.

struct LoginFailure: Error {
  var code: Int
}

final class UserSession {
  var flow: LoginFlow?
}

final class LoginFlow {
  private var outcome: Result<UserSession, LoginFailure>?

  func logIn() {
    let session = UserSession()
    session.flow = self
    outcome = .success(session)
    if case .success(let session) = outcome { note(session.flow == nil ? 0 : 1) }
  }

  func logOut() { outcome = .failure(LoginFailure(code: 401)) }
}

enum LoginResult: FaultyProgram {
  static func faulty() { for _ in 0..<5 { visit() } }
  static func correct() { for _ in 0..<5 { visitAndLogOut() } }

  @inline(never) private static func visit() { LoginFlow().logIn() }

  @inline(never) private static func visitAndLogOut() {
    let flow = LoginFlow()
    flow.logIn()
    flow.logOut()
  }
}
