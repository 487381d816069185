enum Screen {
  final class Model {
    var changed: (() -> Void)?
    var rows: [Row] = []
  }

  final class Row {
    let height: Int
    init(_ height: Int) { self.height = height }
  }
}

@main enum App {
  static func main() { for number in 1...10 { show(number) } }

  @inline(never) static func show(_ number: Int) {
    let model = Screen.Model()
    model.rows.append(Screen.Row(number))
    model.changed = { note(model.rows.count) }
    model.changed?()
  }
}
