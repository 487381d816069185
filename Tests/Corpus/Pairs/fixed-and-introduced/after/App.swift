@main enum App {
  static func main() {
    for user in 0..<60 {
      logIn(user)
      logOut(user)
    }
  }

  @inline(never) static func logIn(_ user: Int) {
    let session = Session()
    session.ended = { session.log.append(user) }
    session.ended?()
    session.ended = nil
  }

  @inline(never) static func logOut(_ user: Int) {
    let session = Session()
    session.ended = { session.log.append(-user) }
    session.ended?()
  }
}
