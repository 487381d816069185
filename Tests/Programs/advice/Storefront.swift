// A presenter that is made before its screen, and that the screen owns.

final class Presenter {
  #if MENDED
    weak var output: Screenful?
  #else
    var output: Screenful?
  #endif
  private var loads = 0

  func load() {
    loads += 1
    output?.show(loads)
  }
}

final class Screenful {
  private let presenter: Presenter
  private var rows = 0
  init(_ presenter: Presenter) { self.presenter = presenter }

  @inline(never) func appear() {
    presenter.output = self
    presenter.load()
  }

  func show(_ rows: Int) { self.rows = rows }
}

final class Storefront {
  private var screen: Screenful?

  @inline(never) func open() {
    let screen = Screenful(Presenter())
    self.screen = screen
    screen.appear()
  }

  @inline(never) func close() { screen = nil }

  @inline(never) static func visit() {
    for _ in 0..<5 {
      let storefront = Storefront()
      storefront.open()
      storefront.close()
    }
  }
}
