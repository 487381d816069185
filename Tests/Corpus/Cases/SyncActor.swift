// An actor and an object that refer to each other.
import Dispatch

actor SyncEngine {
  private var status: SyncStatus?
  private var rounds = 0

  func attach() {
    status = SyncStatus(engine: self)
    rounds += 1
  }

  func detach() { status = nil }
  func progress() -> Int { rounds + (status?.pending ?? 0) }
}

final class SyncStatus: @unchecked Sendable {
  private let engine: SyncEngine
  let pending = 3
  init(engine: SyncEngine) { self.engine = engine }
}

enum SyncActor: FaultyProgram {
  static func faulty() { waitFor { for _ in 0..<3 { await synchronize() } } }
  static func correct() { waitFor { for _ in 0..<3 { await synchronizeAndDetach() } } }

  @inline(never) private static func synchronize() async {
    let engine = SyncEngine()
    await engine.attach()
    note(await engine.progress())
  }

  @inline(never) private static func synchronizeAndDetach() async {
    let engine = SyncEngine()
    await engine.attach()
    note(await engine.progress())
    await engine.detach()
  }
}
