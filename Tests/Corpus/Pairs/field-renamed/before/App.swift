final class Button {
  var action: (() -> Void)?
  var presses = 0
}

@main enum App {
  static func main() { for _ in 0..<10 { addButton() } }

  @inline(never) static func addButton() {
    let button = Button()
    button.action = { button.presses += 1 }
    button.action?()
  }
}
