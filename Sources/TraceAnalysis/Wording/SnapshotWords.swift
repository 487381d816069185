// The reasons for heap images, in words.

import TraceReading

extension SnapshotReason {
  /// The name in documents. Later versions keep it.
  package var key: String {
    switch self {
    case .exit: "exit"
    case .signal: "signal"
    case .request: "request"
    case .call: "call"
    case .expectation: "expectation"
    case .round: "round"
    case .inspection: "inspection"
    case .interval: "interval"
    case .limit: "limit"
    case .size: "size"
    case .other(let number): "unknown(\(number))"
    }
  }

  /// The name in lists for people.
  package var words: String {
    switch self {
    case .signal: "fatal signal"
    case .round: "end of round"
    case .interval: "every so often"
    case .limit: "the trace's limit"
    case .size: "large process"
    case .other(let number): "unknown (\(number))"
    case .exit, .request, .call, .expectation, .inspection: key
    }
  }
}
