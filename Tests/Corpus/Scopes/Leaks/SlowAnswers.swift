// Requests are registered while they are under way. Some wait for an answer that comes long after the program has ended; others were refused, and are never taken off.

final class ReportRequest: Sendable {
  let number: Int

  init(number: Int) { self.number = number }
}

actor ReportGateway {
  private var underWay: [Int: ReportRequest] = [:]
  private var answered = 0

  private enum Refused: Error { case unknownReport }

  func handle(_ number: Int, isForgetful: Bool) async {
    let request = ReportRequest(number: number)
    underWay[number] = request
    do {
      try await answer(to: request)
      underWay[number] = nil
    } catch {
      if !isForgetful { underWay[number] = nil }
    }
  }

  private func answer(to request: ReportRequest) async throws {
    try await Task.sleep(for: request.number % 40 == 20 ? .seconds(60) : .milliseconds(1))
    if request.number % 40 == 7 { throw Refused.unknownReport }
    answered += 1
    note(request.number)
  }
}

enum SlowAnswers: AsyncFaultyProgram {
  static let gateway = ReportGateway()

  static func faulty() async { for number in 0..<400 { await arrive(number, isForgetful: true) } }
  static func correct() async { for number in 0..<400 { await arrive(number, isForgetful: false) } }

  @inline(never) private static func arrive(_ number: Int, isForgetful: Bool) async {
    Task { await gateway.handle(number, isForgetful: isForgetful) }
    if number % 4 == 3 { try? await Task.sleep(for: .milliseconds(2)) }
  }
}
