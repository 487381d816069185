// Objects whose deinitialiser has run, kept in memory by unowned references of live ones.

final class ChatRoom {
  let name: String
  init(name: String) { self.name = name }
}

final class Visitor {
  private unowned let room: ChatRoom
  private let nickname: String

  init(nickname: String, room: ChatRoom) {
    self.nickname = nickname
    self.room = room
  }

  func greet() { note(nickname.count + room.name.count) }
}

enum UnownedZombies: FaultyProgram {
  nonisolated(unsafe) private static var visitors: [Visitor] = []

  static func faulty() { for number in 0..<6 { visit(number) } }

  static func correct() {
    for number in 0..<6 { visit(number) }
    visitors.removeAll()
  }

  @inline(never) private static func visit(_ number: Int) {
    let room = ChatRoom(name: "room \(number)")
    let visitor = Visitor(nickname: "guest", room: room)
    visitor.greet()
    visitors.append(visitor)
  }
}
