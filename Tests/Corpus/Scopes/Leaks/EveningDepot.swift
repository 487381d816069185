// A function keeps a depot in a local variable, and all couriers of the last hours end with it. A courier whose shift ends
// during a tour signs off, but comes back to its bay. In the correct program it goes home.
import Dispatch

private final class Courier {
  let number: Int
  init(number: Int) { self.number = number }
}

private final class Bay {
  private var waiting: [Int: Courier] = [:]
  @inline(never) func enter(_ courier: Courier) { waiting[courier.number] = courier }
  @inline(never) func leave(_ courier: Courier) { waiting[courier.number] = nil }
}

private final class Depot {
  nonisolated(unsafe) static weak var current: Depot?
  private let bays = (0..<4).map { _ in Bay() }
  private var staff: [Int: Courier] = [:]
  private let comesBack: Bool

  init(comesBack: Bool) { self.comesBack = comesBack }

  private func bay(of courier: Courier) -> Bay { bays[courier.number % bays.count] }

  @inline(never) func begin(_ number: Int) {
    let courier = Courier(number: number)
    staff[number] = courier
    bay(of: courier).enter(courier)
  }

  @inline(never) func end(_ number: Int, isOnTour: Bool) {
    guard let courier = staff.removeValue(forKey: number) else { return }
    bay(of: courier).leave(courier)
    if isOnTour, comesBack { bay(of: courier).enter(courier) }
  }

  var size: Int { staff.count }
}

enum EveningDepot: FaultyProgram {
  static func faulty() { note(work(comesBack: true)) }
  static func correct() { note(work(comesBack: false)) }

  @inline(never) private static func work(comesBack: Bool) -> Int {
    // In a process with two threads, each event has its own time.
    let hasBegun = DispatchSemaphore(value: 0)
    DispatchQueue.global().async { hasBegun.signal() }
    hasBegun.wait()
    let depot = Depot(comesBack: comesBack)
    Depot.current = depot
    for number in 0..<640 {
      depot.begin(number)
      depot.end(number - 24, isOnTour: number % 80 < 2)
    }
    return depot.size
  }
}
