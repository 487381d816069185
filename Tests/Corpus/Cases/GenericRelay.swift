// A cycle through a generic class of the program.

final class Relay<Target> {
  var target: Target?
  var count = 0
  func send() { if target != nil { count += 1 } }
}

final class SearchScreen {
  let relay = Relay<SearchScreen>()

  func open() {
    relay.target = self
    relay.send()
    note(relay.count)
  }

  func close() { relay.target = nil }
}

enum GenericRelay: FaultyProgram {
  static func faulty() { for _ in 0..<6 { search() } }
  static func correct() { for _ in 0..<6 { searchAndClose() } }

  @inline(never) private static func search() { SearchScreen().open() }

  @inline(never) private static func searchAndClose() {
    let screen = SearchScreen()
    screen.open()
    screen.close()
  }
}
