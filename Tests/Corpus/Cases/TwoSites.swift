// Cycles of one shape, made in two places: two faults, not one.

final class ReminderStore { var editor: ReminderEditor? }
final class ReminderEditor { var store: ReminderStore? }

enum TwoSites: FaultyProgram {
  static func faulty() {
    for _ in 0..<3 { createReminder() }
    for _ in 0..<5 { editReminder() }
  }

  static func correct() {
    for _ in 0..<8 { editAndClose() }
  }

  @inline(never) private static func createReminder() {
    let store = ReminderStore()
    let editor = ReminderEditor()
    store.editor = editor
    editor.store = store
    use(store)
  }

  @inline(never) private static func editReminder() {
    let store = ReminderStore()
    let editor = ReminderEditor()
    store.editor = editor
    editor.store = store
    use(store)
  }

  @inline(never) private static func editAndClose() {
    let store = ReminderStore()
    let editor = ReminderEditor()
    store.editor = editor
    editor.store = store
    use(store)
    store.editor = nil
  }
}
