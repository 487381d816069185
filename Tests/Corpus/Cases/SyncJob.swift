// An asynchronous closure stored in the object that it captures.

final class SyncService: @unchecked Sendable {
  private var job: (@Sendable () async -> Void)?
  private var runs = 0

  func prepare() { job = { self.runs += 1 } }
  func prepareWeakly() { job = { [weak self] in self?.runs += 1 } }

  func run() async {
    await job?()
    note(runs)
  }
}

enum AsyncJob: FaultyProgram {
  static func faulty() { waitFor { for _ in 0..<8 { await synchronize() } } }
  static func correct() { waitFor { for _ in 0..<8 { await synchronizeWeakly() } } }

  @inline(never) private static func synchronize() async {
    let service = SyncService()
    service.prepare()
    await service.run()
  }

  @inline(never) private static func synchronizeWeakly() async {
    let service = SyncService()
    service.prepareWeakly()
    await service.run()
  }
}
