// Closures in a dictionary with object identifiers as keys.

final class EventBus {
  private var handlers: [ObjectIdentifier: (Int) -> Void] = [:]
  private var delivered = 0

  func subscribe(_ type: Any.Type) {
    handlers[ObjectIdentifier(type)] = { self.delivered += $0 }
  }

  func subscribeWeakly(_ type: Any.Type) {
    handlers[ObjectIdentifier(type)] = { [weak self] in self?.delivered += $0 }
  }

  func post(_ value: Int) {
    for handler in handlers.values { handler(value) }
    note(delivered)
  }
}

enum BusHandlers: FaultyProgram {
  static func faulty() { for value in 0..<5 { publish(value) } }
  static func correct() { for value in 0..<5 { publishWeakly(value) } }

  @inline(never) private static func publish(_ value: Int) {
    let bus = EventBus()
    bus.subscribe(Int.self)
    bus.subscribe(String.self)
    bus.post(value)
  }

  @inline(never) private static func publishWeakly(_ value: Int) {
    let bus = EventBus()
    bus.subscribeWeakly(Int.self)
    bus.subscribeWeakly(String.self)
    bus.post(value)
  }
}
