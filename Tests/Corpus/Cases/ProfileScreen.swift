// A view controller that its own view model keeps, through a callback.

final class ProfileViewModel {
  var notify: ((String) -> Void)?
  func load(_ user: Int) { notify?("user \(user)") }
}

final class ProfileViewController {
  private let viewModel = ProfileViewModel()
  private var title = ""

  func bind() {
    viewModel.notify = { self.title = $0 }
  }

  func bindWeakly() {
    viewModel.notify = { [weak self] in self?.title = $0 }
  }

  func viewDidAppear(user: Int) {
    viewModel.load(user)
    note(title.count)
  }
}

enum ProfileScreen: FaultyProgram {
  static func faulty() { for user in 0..<10 { present(user) } }
  static func correct() { for user in 0..<10 { presentWeakly(user) } }

  @inline(never) private static func present(_ user: Int) {
    let controller = ProfileViewController()
    controller.bind()
    controller.viewDidAppear(user: user)
  }

  @inline(never) private static func presentWeakly(_ user: Int) {
    let controller = ProfileViewController()
    controller.bindWeakly()
    controller.viewDidAppear(user: user)
  }
}
