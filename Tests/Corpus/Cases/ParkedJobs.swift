// A job waits, which is right, and a function that it called before has left a cycle: the frames that had it are gone.

private final class Draft {
  var revision: Draft?
  var pages = [Int](repeating: 1, count: 24)
}

private final class Job: @unchecked Sendable {
  private var result = 0

  func run(forgetting: Bool) async {
    result = await prepare(forgetting: forgetting)
    await ParkedJobs.park()
    note(result)
  }

  @inline(never) private func prepare(forgetting: Bool) async -> Int {
    let draft = Draft()
    let revision = Draft()
    draft.revision = revision
    if forgetting { revision.revision = draft }
    return await sum(draft, depth: 20)
  }

  /// Its frames need slabs of their own.
  @inline(never) private func sum(_ draft: Draft, depth: Int) async -> Int {
    if depth == 0 {
      await Task.yield()
      return draft.pages.count
    }
    return await sum(draft, depth: depth - 1) + draft.pages[0]
  }
}

enum ParkedJobs: FaultyProgram {
  nonisolated(unsafe) private static var parked: [UnsafeContinuation<Void, Never>] = []

  static func faulty() { run(forgetting: true) }
  static func correct() { run(forgetting: false) }

  @inline(never) static func park() async {
    await withUnsafeContinuation { parked.append($0) }
  }

  private static func run(forgetting: Bool) {
    for _ in 0..<2 {
      start(forgetting: forgetting)
      settle()
    }
  }

  @inline(never) private static func start(forgetting: Bool) {
    let job = Job()
    Task.detached { await job.run(forgetting: forgetting) }
  }
}
