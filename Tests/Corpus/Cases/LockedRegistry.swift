// State protected by a lock, in an object of its own, that holds clients which refer to the owner.
import Foundation

final class Locked<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value
  init(_ value: Value) { self.value = value }
  func withValue<Result>(_ body: (inout Value) -> Result) -> Result { lock.withLock { body(&value) } }
}

final class ServiceClient {
  let registry: ServiceRegistry
  init(registry: ServiceRegistry) { self.registry = registry }
}

final class ServiceRegistry {
  private let clients = Locked<[ServiceClient]>([])
  func connect() { clients.withValue { $0.append(ServiceClient(registry: self)) } }
  func disconnect() { clients.withValue { $0.removeAll() } }
  var count: Int { clients.withValue { $0.count } }
}

enum LockedRegistry: FaultyProgram {
  static func faulty() { for _ in 0..<3 { serve() } }
  static func correct() { for _ in 0..<3 { serveAndDisconnect() } }

  @inline(never) private static func serve() {
    let registry = ServiceRegistry()
    registry.connect()
    note(registry.count)
  }

  @inline(never) private static func serveAndDisconnect() {
    let registry = ServiceRegistry()
    registry.connect()
    note(registry.count)
    registry.disconnect()
  }
}
