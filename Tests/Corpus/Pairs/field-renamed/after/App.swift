final class Button {
  var onPress: (() -> Void)?
  var presses = 0
}

@main enum App {
  static func main() { for _ in 0..<10 { addButton() } }

  @inline(never) static func addButton() {
    let button = Button()
    button.onPress = { button.presses += 1 }
    button.onPress?()
  }
}
