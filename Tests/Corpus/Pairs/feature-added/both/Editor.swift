final class Editor {
  var closed: (() -> Void)?
  var text = [1, 2, 3]
}

@inline(never) func edit() {
  let editor = Editor()
  editor.closed = { editor.text = [] }
  use(editor)
}
