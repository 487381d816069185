// A task polls for a session, and goes on after the session has ended, unless the program cancels it.

final class SyncSession: @unchecked Sendable {
  private let account: String
  private var polls = 0
  private var task: Task<Void, Never>?

  init(account: String) { self.account = account }

  func start() {
    task = Task {
      while !Task.isCancelled {
        self.poll()
        // Often at first, to be quick to show something.
        try? await Task.sleep(for: self.polls < 3 ? .milliseconds(2) : .seconds(60))
      }
    }
  }

  func close() async {
    task?.cancel()
    await task?.value
  }

  private func poll() {
    polls += 1
    note(polls + account.count)
  }
}

enum EndlessTask: AsyncFaultyProgram {
  static func faulty() async {
    for number in 0..<9 { await synchronise(number, closing: false) }
    try? await Task.sleep(for: .milliseconds(30))
  }

  static func correct() async {
    for number in 0..<9 { await synchronise(number, closing: true) }
    try? await Task.sleep(for: .milliseconds(30))
  }

  @inline(never) private static func synchronise(_ number: Int, closing: Bool) async {
    let session = SyncSession(account: "account number \(number)")
    session.start()
    try? await Task.sleep(for: .milliseconds(10))
    if closing { await session.close() }
  }
}
