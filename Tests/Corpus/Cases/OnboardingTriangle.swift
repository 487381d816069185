// Three objects in a ring: coordinator, controller, model.

final class OnboardingCoordinator {
  var controller: OnboardingController?
  var pages = 0
}

final class OnboardingController {
  let model: OnboardingModel
  init(model: OnboardingModel) { self.model = model }
}

final class OnboardingModel {
  private let coordinator: OnboardingCoordinator
  init(coordinator: OnboardingCoordinator) { self.coordinator = coordinator }

  func turn() {
    coordinator.pages += 1
    note(coordinator.pages)
  }
}

enum OnboardingTriangle: FaultyProgram {
  static func faulty() { for _ in 0..<12 { begin() } }
  static func correct() { for _ in 0..<12 { beginAndEnd() } }

  @inline(never) private static func begin() {
    let coordinator = OnboardingCoordinator()
    coordinator.controller = OnboardingController(model: OnboardingModel(coordinator: coordinator))
    coordinator.controller?.model.turn()
    use(coordinator)
  }

  @inline(never) private static func beginAndEnd() {
    let coordinator = OnboardingCoordinator()
    coordinator.controller = OnboardingController(model: OnboardingModel(coordinator: coordinator))
    coordinator.controller?.model.turn()
    coordinator.controller = nil
  }
}
