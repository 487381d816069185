// Opens and closes screens, as a user would who looks around.
import Foundation

/// A screen on the stack, and its model.
final class Screen {
  let title: String
  let model: any ViewModel

  init(title: String, model: any ViewModel) {
    self.title = title
    self.model = model
  }
}

final class Navigator {
  private let session: Session
  private var stack: [Screen] = []

  init(session: Session) { self.session = session }

  func open(_ title: String, _ model: any ViewModel.Type) {
    let screen = Screen(title: title, model: model.init(session: session))
    stack.append(screen)
    screen.model.screenDidOpen()
  }

  func close() { stack.popLast()?.model.screenDidClose() }

  var depth: Int { stack.count }
}
