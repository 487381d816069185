// A reference to a method of self captures self.

final class TapController {
  private var handler: (() -> Void)?
  private var taps = 0

  func bind() { handler = self.didTap }
  func bindWeakly() { handler = { [weak self] in self?.didTap() } }
  func didTap() { taps += 1 }

  func tap() {
    handler?()
    note(taps)
  }
}

enum MethodReference: FaultyProgram {
  static func faulty() { for _ in 0..<7 { show() } }
  static func correct() { for _ in 0..<7 { showWeakly() } }

  @inline(never) private static func show() {
    let controller = TapController()
    controller.bind()
    controller.tap()
  }

  @inline(never) private static func showWeakly() {
    let controller = TapController()
    controller.bindWeakly()
    controller.tap()
  }
}
