// Each request registers a listener for what happens while it is handled, and none is ever taken off the list.

protocol AuditListener: AnyObject {
  func happened(_ event: String)
}

final class RequestAudit: AuditListener {
  let request: Int
  private var events = 0

  init(request: Int) { self.request = request }

  func happened(_ event: String) {
    events += 1
    note(events + event.count)
  }
}

enum AuditLog {
  nonisolated(unsafe) static var listeners: [any AuditListener] = []

  static func add(_ listener: any AuditListener) { listeners.append(listener) }
  static func remove(_ listener: any AuditListener) { listeners.removeAll { $0 === listener } }
  static func record(_ event: String) { listeners.last?.happened(event) }
}

enum GrowingLog: FaultyProgram {
  static func faulty() { for request in 0..<300 { handle(request, removing: false) } }
  static func correct() { for request in 0..<300 { handle(request, removing: true) } }

  @inline(never) private static func handle(_ request: Int, removing: Bool) {
    let audit = RequestAudit(request: request)
    AuditLog.add(audit)
    AuditLog.record("request \(request) was authorised")
    AuditLog.record("request \(request) was answered")
    if removing { AuditLog.remove(audit) }
  }
}
