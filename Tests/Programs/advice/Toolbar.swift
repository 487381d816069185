// Closures in a list that the captured object has.

final class Toolbar {
  private var actions: [() -> Void] = []
  private var presses = 0

  @inline(never) func add(_ weight: Int) {
    #if MENDED
      actions.append { [weak self] in self?.presses += weight }
    #else
      actions.append { self.presses += weight }  // to change
    #endif
  }

  @inline(never) static func install() {
    for _ in 0..<4 {
      let toolbar = Toolbar()
      for weight in 1..<4 { toolbar.add(weight) }
      for action in toolbar.actions { action() }
    }
  }
}
