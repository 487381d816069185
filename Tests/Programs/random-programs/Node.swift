// The objects of the programs, and the walk that uses all that a program can reach.

import Glibc

/// A change of one of an object's places for others.
enum Edit {
  case put(Node), clear
  /// Forgets a reference that the place owns by hand, without a release. Other places are cleared.
  case lose
}

/// An object with places for others, which are `Shape`s.
class Node: Hashable {
  let id: UInt32
  /// Its number in its program. Shapes choose between their ways by it, so that a program alone does the same.
  let turn: UInt32
  private(set) var uses: UInt32 = 0

  init(_ kind: Kind) {
    id = Ledger.add(kind)
    turn = Ledger.turn(id)
    Ledger.place(id, UInt(bitPattern: ObjectIdentifier(self)))
  }

  deinit { Ledger.noteEnd(id) }

  final func use() { uses &+= 1 }
  var slotCount: Int { 0 }
  func edit(_ slot: Int, _ edit: Edit) {}
  /// Uses everything that its places lead to.
  func visit() {}
  /// Resumes what waits for it.
  func act() {}

  static func == (a: Node, b: Node) -> Bool { a === b }
  func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// Uses objects after the image. It keeps all of them until the end, so that whatever was alive can be used.
enum Walk {
  nonisolated(unsafe) private static let lock: UnsafeMutablePointer<pthread_mutex_t> = {
    let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    pthread_mutex_init(lock, nil)
    return lock
  }()
  nonisolated(unsafe) private static var seen: Set<UInt32> = []
  nonisolated(unsafe) private static var used: [Node] = []
  nonisolated(unsafe) private static var pending: [Node] = []

  /// From any thread.
  static func use(_ node: Node?) {
    guard let node, Ledger.isAfterImage else { return }
    pthread_mutex_lock(lock)
    node.use()
    Ledger.note(node.id, .used)
    if seen.insert(node.id).inserted {
      used.append(node)
      pending.append(node)
    }
    pthread_mutex_unlock(lock)
  }

  /// Visits all objects that are known, and lets them act. Only on the main thread.
  static func run() {
    while true {
      pthread_mutex_lock(lock)
      let node = pending.popLast()
      pthread_mutex_unlock(lock)
      guard let node else { return }
      node.visit()
      node.act()
    }
  }

  static var isDone: Bool {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    return pending.isEmpty
  }

  /// Clears all places of all that was used, so that nothing keeps it.
  static func end() {
    for node in used { for slot in 0..<node.slotCount { node.edit(slot, .clear) } }
    used = []
    seen = []
  }
}

/// Uses and clears a shape that a closure captured.
func finish(_ shape: any Shape) {
  var shape = shape
  shape.visit()
  shape.clear()
}
