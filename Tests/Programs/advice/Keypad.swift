// A method as a closure.

final class Keypad {
  private var onPress: ((Int) -> Void)?
  private var digits: [Int] = []

  @inline(never) func connect() {
    #if MENDED
      onPress = { [weak self] digit in self?.add(digit) }
    #else
      onPress = add
    #endif
  }

  private func add(_ digit: Int) { digits.append(digit) }

  @inline(never) static func press() {
    for digit in 0..<5 {
      let keypad = Keypad()
      keypad.connect()
      keypad.onPress?(digit)
    }
  }
}
