// A checked continuation that is dropped without being resumed: its task waits for ever.

final class PermissionPrompt: @unchecked Sendable {
  private let answers = 2
  private var handler: (() -> Void)?

  func ask() async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      // The dialog is dismissed; its answer never comes.
      note(answers)
      _ = continuation
    }
    note(answers)
  }

  func askAndAnswer() async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in continuation.resume() }
    note(answers)
  }
}

enum LostCheckedContinuation: FaultyProgram {
  static func faulty() {
    for _ in 0..<3 { prompt() }
    settle()
  }

  static func correct() {
    for _ in 0..<3 { promptAndAnswer() }
    settle()
  }

  @inline(never) private static func prompt() {
    let prompt = PermissionPrompt()
    Task.detached { await prompt.ask() }
  }

  @inline(never) private static func promptAndAnswer() {
    let prompt = PermissionPrompt()
    Task.detached { await prompt.askAndAnswer() }
  }
}
