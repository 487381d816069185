private final class Draft {
  var saved: (() -> Void)?
  var history: History<Draft>?
  var text = [1, 2, 3]
}

final class History<Owner: AnyObject> {
  weak var owner: Owner?
  var states: [[Int]] = []
}

@main enum App {
  static func main() { for number in 0..<10 { write(number) } }

  @inline(never) static func write(_ number: Int) {
    let draft = Draft()
    draft.history = History()
    draft.history?.owner = draft
    draft.history?.states.append([number])
    draft.saved = { note(draft.text.count) }
    draft.saved?()
  }
}
