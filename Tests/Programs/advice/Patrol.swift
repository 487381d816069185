// A guard owns its duty through a closure. The closure hides the plan's type, and refers back to the guard.

struct Duty {
  private let perform: (Int) -> Int
  init<Plan: PatrolPlan>(_ plan: Plan) { perform = plan.walk }
  func callAsFunction(_ hour: Int) -> Int { perform(hour) }
}

protocol PatrolPlan {
  func walk(_ hour: Int) -> Int
}

final class Guardian {
  var duty: Duty?
  private(set) var steps = 0
  func advance(_ count: Int) { steps += count }
}

final class NightRound: PatrolPlan {
  #if MENDED
    private weak var guardian: Guardian?
  #else
    private let guardian: Guardian?
  #endif
  private let length: Int

  init(_ guardian: Guardian, length: Int) { (self.guardian, self.length) = (guardian, length) }

  func walk(_ hour: Int) -> Int {
    guardian?.advance(length * hour)
    return length
  }
}

enum Patrol {
  @inline(never) static func watch() -> Int {
    var walked = 0
    for night in 1...9 {
      let guardian = Guardian()
      guardian.duty = Duty(NightRound(guardian, length: night))
      for hour in 0..<3 { walked += guardian.duty?(hour) ?? 0 }
    }
    return walked
  }
}
