// A screen that is opened again holds the one that was there before, which has been closed.

class NavigationScreen {
  let title: String
  init(title: String) { self.title = title }
}

final class ListScreen: NavigationScreen {}

final class DetailScreen: NavigationScreen {
  private var paragraphs: [String]
  /// What was shown before, to scroll to the same place.
  private var previous: DetailScreen?
  private var position = 0

  init(title: String, continuing previous: DetailScreen?, holding: Bool) {
    paragraphs = (0..<5).map { "paragraph \($0) of \(title)" }
    super.init(title: title)
    position = previous?.position ?? 0
    if holding { self.previous = previous }
  }

  func scroll() {
    position += 1
    note(position + paragraphs.count)
  }
}

final class NavigationStack {
  private var screens: [NavigationScreen] = []
  func push(_ screen: NavigationScreen) { screens.append(screen) }
  func pop() { screens.removeLast() }
}

enum PushedTwice: FaultyProgram {
  nonisolated(unsafe) private static var navigation: NavigationStack?

  static func faulty() { browse(holding: true) }
  static func correct() { browse(holding: false) }

  private static func browse(holding: Bool) {
    let navigation = NavigationStack()
    self.navigation = navigation
    navigation.push(ListScreen(title: "articles"))
    for number in 0..<10 {
      _ = show("article \(number)", continuing: nil, holding: holding, in: navigation)
      navigation.pop()
    }
    reopen("the last article", holding: holding, in: navigation)
  }

  @inline(never) private static func reopen(_ title: String, holding: Bool, in navigation: NavigationStack) {
    let first = show(title, continuing: nil, holding: holding, in: navigation)
    navigation.pop()
    _ = show(title, continuing: first, holding: holding, in: navigation)
  }

  @inline(never) private static func show(
    _ title: String, continuing previous: DetailScreen?, holding: Bool, in navigation: NavigationStack
  ) -> DetailScreen {
    let screen = DetailScreen(title: title, continuing: previous, holding: holding)
    navigation.push(screen)
    screen.scroll()
    return screen
  }
}
