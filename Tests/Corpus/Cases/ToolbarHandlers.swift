// Handlers in an array, each of which captures the array's owner.

final class ToolbarController {
  private var handlers: [() -> Void] = []
  private var presses = 0

  func install() {
    handlers.append { self.presses += 1 }
    handlers.append { self.presses -= 1 }
  }

  func uninstall() { handlers.removeAll() }

  func press() {
    for handler in handlers { handler() }
    note(presses)
  }
}

enum ToolbarHandlers: FaultyProgram {
  static func faulty() { for _ in 0..<4 { open() } }
  static func correct() { for _ in 0..<4 { openAndClose() } }

  @inline(never) private static func open() {
    let controller = ToolbarController()
    controller.install()
    controller.press()
  }

  @inline(never) private static func openAndClose() {
    let controller = ToolbarController()
    controller.install()
    controller.press()
    controller.uninstall()
  }
}
