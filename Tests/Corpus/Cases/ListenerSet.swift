// Members of a set that refer to the set's owner.

final class Listener: Hashable {
  var source: EventSource?
  var heard = 0

  init(source: EventSource) { self.source = source }
  static func == (left: Listener, right: Listener) -> Bool { left === right }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

final class EventSource {
  private var listeners: Set<Listener> = []

  func attach(_ count: Int) {
    for _ in 0..<count { listeners.insert(Listener(source: self)) }
  }

  func detachAll() { listeners.removeAll() }

  func emit() {
    for listener in listeners { listener.heard += 1 }
    note(listeners.count)
  }
}

enum ListenerSet: FaultyProgram {
  static func faulty() { for _ in 0..<8 { listen() } }
  static func correct() { for _ in 0..<8 { listenAndDetach() } }

  @inline(never) private static func listen() {
    let source = EventSource()
    source.attach(2)
    source.emit()
  }

  @inline(never) private static func listenAndDetach() {
    let source = EventSource()
    source.attach(2)
    source.emit()
    source.detachAll()
  }
}
