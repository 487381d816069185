// A closure that outlives the object which it captured unowned.

final class Screen {
  let title: String
  init(_ title: String) { self.title = title }

  @inline(never) func item() -> () -> Int {
    #if MENDED
      { [weak self] in self?.title.count ?? 0 }
    #else
      { [unowned self] in title.count }  // to change
    #endif
  }
}

final class Menu {
  nonisolated(unsafe) static var shared: [Menu] = []
  let choose: () -> Int
  init(_ choose: @escaping () -> Int) { self.choose = choose }

  @inline(never) static func open() {
    for number in 0..<4 {
      let screen = Screen("a screen with a long title, number \(number)")
      let menu = Menu(screen.item())
      if menu.choose() > 100 { print(number) }
      shared.append(menu)
    }
  }
}
