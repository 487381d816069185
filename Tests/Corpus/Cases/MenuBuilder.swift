// A tree of views made by a result builder, with an action in it that captures the screen.

protocol MenuElement {
  func activate()
}

final class MenuItem: MenuElement {
  private let action: () -> Void
  init(action: @escaping () -> Void) { self.action = action }
  func activate() { action() }
}

final class MenuSection: MenuElement {
  private let elements: [any MenuElement]
  init(@MenuBuilder _ elements: () -> [any MenuElement]) { self.elements = elements() }
  func activate() { for element in elements { element.activate() } }
}

@resultBuilder enum MenuBuilder {
  static func buildBlock(_ elements: any MenuElement...) -> [any MenuElement] { elements }
}

final class MenuScreen {
  private var body: MenuSection?
  private var choices = 0

  func build() {
    body = MenuSection {
      MenuSection { MenuItem { self.choices += 1 } }
    }
  }

  func buildWeakly() {
    body = MenuSection {
      MenuSection { MenuItem { [weak self] in self?.choices += 1 } }
    }
  }

  func choose() {
    body?.activate()
    note(choices)
  }
}

enum MenuTree: FaultyProgram {
  static func faulty() { for _ in 0..<2 { open() } }
  static func correct() { for _ in 0..<2 { openWeakly() } }

  @inline(never) private static func open() {
    let screen = MenuScreen()
    screen.build()
    screen.choose()
  }

  @inline(never) private static func openWeakly() {
    let screen = MenuScreen()
    screen.buildWeakly()
    screen.choose()
  }
}
