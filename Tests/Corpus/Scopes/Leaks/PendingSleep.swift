// A task sleeps for an hour to time a request out, and keeps the request although it was answered at once.

final class QueryRequest: @unchecked Sendable {
  let query: String
  private let rows = Locked<[String]>([])
  private var timeout: Task<Void, Never>?

  init(query: String) { self.query = query }

  func armTimeout() {
    timeout = Task {
      do { try await Task.sleep(for: .seconds(3600)) } catch { return }
      self.fail()
    }
  }

  func finish(cancelling: Bool) async {
    guard cancelling else { return }
    timeout?.cancel()
    await timeout?.value
  }

  func receive(_ row: String) { note(rows.with { $0.append(row); return $0.count }) }
  private func fail() { rows.with { $0.removeAll() } }
}

enum PendingSleep: AsyncFaultyProgram {
  static func faulty() async {
    for number in 0..<15 { await answer(number, cancelling: false) }
    try? await Task.sleep(for: .milliseconds(20))
  }

  static func correct() async {
    for number in 0..<15 { await answer(number, cancelling: true) }
    try? await Task.sleep(for: .milliseconds(20))
  }

  @inline(never) private static func answer(_ number: Int, cancelling: Bool) async {
    let request = QueryRequest(query: "select name from people where id = \(number)")
    request.armTimeout()
    for row in 0..<3 { request.receive("row \(row) of \(request.query)") }
    // The query takes a while.
    try? await Task.sleep(for: .milliseconds(3))
    await request.finish(cancelling: cancelling)
  }
}
