// Weak boxes outlive the objects that they were made for, whose memory goes to others: here to a cycle.

private final class Caller {
  var badge = 1
  var floor = 2
  var host = 3
}

/// As large as a caller, so that it gets a caller's memory.
private final class Lobby {
  var desk: Desk?
  var floor = 2
  var hours = 3
}

private final class Desk {
  var lobby: Lobby?
  var number = 2
  var phone = 3
}

private final class Badge {
  weak var caller: Caller?
  init(_ caller: Caller) { self.caller = caller }
}

enum VisitorBadges: FaultyProgram {
  nonisolated(unsafe) private static var badges: [Badge] = []
  nonisolated(unsafe) private static var farewells: [() -> Void] = []

  static func faulty() { open(closing: false) }
  static func correct() { open(closing: true) }

  private static func open(closing: Bool) {
    badges.reserveCapacity(2)
    farewells.reserveCapacity(2)
    // Few enough that it is no collection that only grows.
    for _ in 0..<2 { receive() }
    for _ in 0..<12 { build(closing: closing) }
    note(badges.count + farewells.count)
  }

  @inline(never) private static func receive() {
    let caller = Caller()
    badges.append(Badge(caller))
    let guide = Caller()
    farewells.append { [weak guide] in note(guide?.badge ?? 0) }
    use(caller)
    use(guide)
  }

  @inline(never) private static func build(closing: Bool) {
    let lobby = Lobby()
    let desk = Desk()
    lobby.desk = desk
    desk.lobby = lobby
    use(lobby)
    if closing { desk.lobby = nil }
  }
}
