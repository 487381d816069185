// A cycle through a property that the superclass declares.

class BaseScreen {
  var presenter: BasePresenter?
  var title = "untitled"
}

class BasePresenter {
  var uses = 0
}

final class DetailScreen: BaseScreen {
  var item = 0
}

final class DetailPresenter: BasePresenter {
  private let screen: DetailScreen
  init(screen: DetailScreen) { self.screen = screen }

  func present(_ item: Int) {
    screen.item = item
    uses += 1
    note(screen.title.count + uses)
  }
}

enum BaseClassField: FaultyProgram {
  static func faulty() { for item in 0..<7 { show(item) } }
  static func correct() { for item in 0..<7 { showAndDismiss(item) } }

  @inline(never) private static func show(_ item: Int) {
    let screen = DetailScreen()
    let presenter = DetailPresenter(screen: screen)
    screen.presenter = presenter
    presenter.present(item)
  }

  @inline(never) private static func showAndDismiss(_ item: Int) {
    let screen = DetailScreen()
    let presenter = DetailPresenter(screen: screen)
    screen.presenter = presenter
    presenter.present(item)
    screen.presenter = nil
  }
}
