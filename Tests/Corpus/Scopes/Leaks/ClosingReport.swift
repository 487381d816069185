// Answered requests stay in a list. Now and then the program goes over all of them, for a total.

private final class AnsweredRequest {
  let path: String
  private(set) var milliseconds = 0

  init(path: String) { self.path = path }
  func finish(_ time: Int) { milliseconds = time }
}

private final class RequestLog {
  nonisolated(unsafe) static let shared = RequestLog()
  private var requests: [AnsweredRequest] = []
  private var total = 0

  func begin(_ request: AnsweredRequest) { requests.append(request) }

  /// `forgetting`: whether the request leaves the list, and its time is added up at once.
  func end(_ request: AnsweredRequest, forgetting: Bool) {
    guard forgetting else { return }
    total += request.milliseconds
    requests.removeAll { $0 === request }
  }

  @inline(never) func report() { note(requests.reduce(total) { $0 + $1.milliseconds + $1.path.count }) }
}

enum ClosingReport: FaultyProgram {
  static func faulty() { serve(forgetting: false) }
  static func correct() { serve(forgetting: true) }

  private static func serve(forgetting: Bool) {
    for number in 0..<400 {
      answer(number, forgetting: forgetting)
      if number % 80 == 79 { RequestLog.shared.report() }
    }
  }

  @inline(never) private static func answer(_ number: Int, forgetting: Bool) {
    let request = AnsweredRequest(path: "/articles/\(number)/comments")
    RequestLog.shared.begin(request)
    for line in 0..<20 { note("line \(line) of \(request.path)".split(separator: " ").map(String.init).count) }
    request.finish(number % 40)
    RequestLog.shared.end(request, forgetting: forgetting)
  }
}
