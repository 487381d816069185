// A callback that captures its controller and more, so that a closure context is between the two objects.

final class SettingsViewModel {
  var onChange: ((Bool) -> Void)?
  func toggle(_ value: Bool) { onChange?(value) }
}

final class SettingsViewController {
  private let viewModel = SettingsViewModel()
  private var changes: [String] = []

  func bind(section: String, row: Int) {
    viewModel.onChange = { value in
      self.changes.append("\(section).\(row): \(value)")
    }
  }

  func bindWeakly(section: String, row: Int) {
    viewModel.onChange = { [weak self] value in
      self?.changes.append("\(section).\(row): \(value)")
    }
  }

  func didTapSwitch() {
    viewModel.toggle(true)
    note(changes.count)
  }
}

enum SettingsScreen: FaultyProgram {
  static func faulty() { for row in 0..<3 { show(row) } }
  static func correct() { for row in 0..<3 { showWeakly(row) } }

  @inline(never) private static func show(_ row: Int) {
    let controller = SettingsViewController()
    controller.bind(section: "Privacy and security", row: row)
    controller.didTapSwitch()
  }

  @inline(never) private static func showWeakly(_ row: Int) {
    let controller = SettingsViewController()
    controller.bindWeakly(section: "Privacy and security", row: row)
    controller.didTapSwitch()
  }
}
