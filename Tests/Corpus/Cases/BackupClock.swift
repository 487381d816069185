// A cycle through a class with stored properties of no size: a clock, a marker, a type. One of its properties is weak.

struct Marker {}

enum Strategy { case whole }

final class BackupPlan {
  weak var job: BackupJob?
  var name = "nightly"
}

final class BackupJob {
  let clock = ContinuousClock()
  weak var plan: BackupPlan?
  let marker = Marker()
  var steps: [() -> Void] = []
  let strategy = Strategy.whole
  var target: BackupPlan
  let kind: BackupPlan.Type = BackupPlan.self

  init(plan: BackupPlan) {
    self.plan = plan
    target = plan
  }

  func prepare(holds: Bool) {
    if holds {
      steps.append { note(self.steps.count) }
    } else {
      steps.append { [weak self] in note(self?.steps.count ?? 0) }
    }
    steps[0]()
  }
}

enum BackupClock: FaultyProgram {
  static func faulty() { for _ in 0..<3 { backUp(holds: true) } }
  static func correct() { for _ in 0..<3 { backUp(holds: false) } }

  @inline(never) private static func backUp(holds: Bool) {
    let plan = BackupPlan()
    let job = BackupJob(plan: plan)
    plan.job = job
    job.prepare(holds: holds)
    use(job)
  }
}
