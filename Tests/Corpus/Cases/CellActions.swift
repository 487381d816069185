// A closure in a structure in the object that it captures.

struct CellActions {
  var identifier = 0
  var onTap: (() -> Void)?
  var onSwipe: (() -> Void)?
}

final class ButtonCell {
  private var actions = CellActions()
  private var taps = 0

  func configure(_ identifier: Int) {
    actions.identifier = identifier
    actions.onTap = { self.taps += 1 }
  }

  func configureUnowned(_ identifier: Int) {
    actions.identifier = identifier
    actions.onTap = { [unowned self] in self.taps += 1 }
  }

  func tap() {
    actions.onTap?()
    note(taps)
  }
}

enum ActionStructure: FaultyProgram {
  static func faulty() { for row in 0..<13 { show(row) } }
  static func correct() { for row in 0..<13 { showUnowned(row) } }

  @inline(never) private static func show(_ row: Int) {
    let cell = ButtonCell()
    cell.configure(row)
    use(cell)
    cell.tap()
  }

  @inline(never) private static func showUnowned(_ row: Int) {
    let cell = ButtonCell()
    cell.configureUnowned(row)
    cell.tap()
  }
}
