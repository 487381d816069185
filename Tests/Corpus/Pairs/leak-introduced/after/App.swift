@main enum App {
  static func main() { for user in 0..<60 { chat(user) } }

  @inline(never) static func chat(_ user: Int) {
    let room = ChatRoom()
    room.open()
    room.receive("hello, this is user number \(user)")
  }
}
