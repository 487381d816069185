// A property wrapper whose storage holds a closure over the object with the property.

@propertyWrapper struct Notifying<Value> {
  private var value: Value
  var willChange: (() -> Void)?

  init(wrappedValue: Value) { value = wrappedValue }

  var wrappedValue: Value {
    get { value }
    set {
      willChange?()
      value = newValue
    }
  }
}

final class MixerScreen {
  @Notifying private var volume = 5
  private var changes = 0

  func bind() { _volume.willChange = { self.didChange() } }
  func bindUnowned() { _volume.willChange = { [unowned self] in didChange() } }
  private func didChange() { note(7) }
  func raise() { volume += 1 }
}

enum WrapperStorage: FaultyProgram {
  static func faulty() { for _ in 0..<6 { open() } }
  static func correct() { for _ in 0..<6 { openUnowned() } }

  @inline(never) private static func open() {
    let screen = MixerScreen()
    screen.bind()
    screen.raise()
  }

  @inline(never) private static func openUnowned() {
    let screen = MixerScreen()
    screen.bindUnowned()
    screen.raise()
  }
}
