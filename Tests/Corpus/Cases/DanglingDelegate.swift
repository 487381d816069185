// A delegate that is not counted, and whose owner forgets to clear it when it ends. Nobody calls it any more.

/// As large as nothing else, so that its memory is nobody's afterwards.
final class SignUpScreen {
  private let field: SignUpField
  private var drafts: (Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int, Int)
  private let clearsDelegate: Bool

  init(field: SignUpField, clearsDelegate: Bool) {
    self.field = field
    self.clearsDelegate = clearsDelegate
    drafts = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20)
    field.delegate = self
  }

  deinit { if clearsDelegate { field.delegate = nil } }

  func fieldDidChange() { drafts.0 += 1 }
}

final class SignUpField {
  unowned(unsafe) var delegate: SignUpScreen?
  func type() { delegate?.fieldDidChange() }
}

enum DanglingDelegate: FaultyProgram {
  nonisolated(unsafe) private static var fields: [SignUpField] = []

  static func faulty() { for _ in 0..<4 { signUp(clearing: false) } }
  static func correct() { for _ in 0..<4 { signUp(clearing: true) } }

  @inline(never) private static func signUp(clearing: Bool) {
    let field = SignUpField()
    fields.append(field)
    let screen = open(field, clearing: clearing)
    field.type()
    use(screen)
  }

  @inline(never) private static func open(_ field: SignUpField, clearing: Bool) -> SignUpScreen {
    SignUpScreen(field: field, clearsDelegate: clearing)
  }
}
