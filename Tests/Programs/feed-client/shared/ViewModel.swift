// What all screens' models have in common.
import Foundation

/// The model of one screen: made when the screen opens, and of no use once it is closed.
protocol ViewModel: AnyObject {
  init(session: Session)
  func screenDidOpen()
  func screenDidClose()
}

/// Counts how many models of each kind are alive, for the program's last words.
final class Census: @unchecked Sendable {
  static let shared = Census()
  private let lock = NSLock()
  private var alive: [String: Int] = [:]

  func born(_ type: Any.Type) { lock.withLock { alive["\(type)", default: 0] += 1 } }
  func died(_ type: Any.Type) { lock.withLock { alive["\(type)", default: 0] -= 1 } }
  var report: [(String, Int)] { lock.withLock { alive.sorted { $0.key < $1.key } } }
}
