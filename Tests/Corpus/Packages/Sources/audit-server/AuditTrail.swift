// The requests in progress: a record for each request, from its beginning to its end.
import Foundation

/// The notes on a request while it is handled.
final class RequestAudit: @unchecked Sendable {
  let number: Int
  let path: String
  private let lock = NSLock()
  private var events: [String] = []

  init(number: Int, path: String) {
    self.number = number
    self.path = path
  }

  /// One request in fifty is inspected further, and its record must be kept until that is done.
  var isSampled: Bool { number % 50 == 49 }

  func note(_ event: String) { lock.withLock { events.append(event) } }
}

enum AuditTrail {
  private static let lock = NSLock()
  nonisolated(unsafe) private static var pending: [Int: RequestAudit] = [:]
  nonisolated(unsafe) private static var count = 0

  static func begin(_ path: String) -> RequestAudit {
    lock.withLock {
      let audit = RequestAudit(number: count, path: path)
      count += 1
      pending[audit.number] = audit
      return audit
    }
  }

  /// `keepingSampled`: the fault. The sampled records are kept and never inspected.
  static func end(_ audit: RequestAudit, keepingSampled: Bool) {
    if keepingSampled, audit.isSampled { return }
    lock.withLock { _ = pending.removeValue(forKey: audit.number) }
  }
}
