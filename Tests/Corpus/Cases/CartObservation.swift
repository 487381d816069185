// A change handler of withObservationTracking that captures the screen that owns the model.
import Observation

@Observable final class CartModel {
  var items = 0
}

final class CartScreen: @unchecked Sendable {
  private let cart = CartModel()
  private var renders = 0

  func render() {
    renders += 1
    withObservationTracking { note(cart.items) } onChange: { self.renders += 1 }
  }

  func renderWeakly() {
    renders += 1
    withObservationTracking { note(cart.items) } onChange: { [weak self] in self?.renders += 1 }
  }
}

enum CartObservation: FaultyProgram {
  static func faulty() { for _ in 0..<6 { open() } }
  static func correct() { for _ in 0..<6 { openWeakly() } }

  @inline(never) private static func open() { CartScreen().render() }
  @inline(never) private static func openWeakly() { CartScreen().renderWeakly() }
}
