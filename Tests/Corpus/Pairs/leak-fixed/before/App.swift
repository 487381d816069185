// A view model that keeps its screen, and a context that a C interface is given and not relieved of.

final class PriceModel {
  var changed: ((Int) -> Void)?
  func update(_ price: Int) { changed?(price) }
}

final class PriceScreen {
  private let model = PriceModel()
  private var price = 0
  func appear() {
    model.changed = { self.price = $0 }
    model.update(17)
    note(price)
  }
}

final class CallbackContext {
  let name: Int
  init(_ name: Int) { self.name = name }
}

@main enum App {
  static func main() {
    for number in 0..<80 {
      show()
      if number % 2 == 0 { register(number) }
    }
  }

  @inline(never) static func show() {
    let screen = PriceScreen()
    screen.appear()
    use(screen)
  }

  @inline(never) static func register(_ number: Int) {
    let context = Unmanaged.passRetained(CallbackContext(number))
    note(context.takeUnretainedValue().name)
  }
}
