// Objects that live on by design: reachable from globals, in cycles or not.
import Foundation

final class Analytics {
  static let shared = Analytics()
  private var events: [String] = []
  private lazy var flush: () -> Void = { self.events.removeAll() }

  func track(_ event: String) {
    events.append(event)
    if events.count > 100 { flush() }
  }
}

enum Singletons: CleanProgram {
  static func correct() {
    for number in 0..<120 { Analytics.shared.track("event number \(number) of this run") }
  }
}

final class Window {
  var children: [Window] = []
  var parent: Window?
  var onClose: (() -> Void)?
}

/// Cycles that are held on purpose.
enum LiveCycles: CleanProgram {
  nonisolated(unsafe) private static var root: Window?

  static func correct() {
    let window = Window()
    for _ in 0..<5 { open(in: window) }
    root = window
  }

  @inline(never) private static func open(in window: Window) {
    let child = Window()
    child.parent = window
    child.onClose = { child.children.removeAll() }
    window.children.append(child)
  }
}

final class Avatar {
  let pixels: [Int]
  init(side: Int) { pixels = Array(repeating: side, count: side * side) }
}

struct WeakReference {
  weak var avatar: Avatar?
}

enum WeakCaches: CleanProgram {
  nonisolated(unsafe) private static var cache: [Int: WeakReference] = [:]

  static func correct() {
    for side in 1..<12 { load(side) }
    note(cache.values.filter { $0.avatar != nil }.count)
    cache = cache.filter { $0.value.avatar != nil }
  }

  @inline(never) private static func load(_ side: Int) {
    let avatar = Avatar(side: side)
    cache[side] = WeakReference(avatar: avatar)
    note(cache[side]?.avatar?.pixels.count ?? 0)
  }
}

/// Live objects with side tables. The tables hold the objects' addresses encoded, not as plain pointers.
enum LiveSideTables: CleanProgram {
  nonisolated(unsafe) private static var avatars: [Avatar] = []
  nonisolated(unsafe) private static var recent: [WeakReference] = []

  static func correct() {
    for side in 1..<9 {
      let avatar = Avatar(side: side)
      avatars.append(avatar)
      recent.append(WeakReference(avatar: avatar))
    }
    note(recent.filter { $0.avatar != nil }.count)
    // Half of the side tables are from now on known to their objects alone.
    recent.removeLast(4)
  }
}

enum ObjectCaches: CleanProgram {
  nonisolated(unsafe) private static let cache = NSCache<NSString, Avatar>()

  static func correct() {
    cache.countLimit = 5
    for side in 1..<20 { cache.setObject(Avatar(side: side), forKey: NSString(string: "avatar \(side)")) }
    note(cache.object(forKey: "avatar 19")?.pixels.count ?? 0)
  }
}

enum LargeCollections: CleanProgram {
  nonisolated(unsafe) private static var index: [String: [Int]] = [:]
  nonisolated(unsafe) private static var seen: Set<Int> = []

  static func correct() {
    for number in 0..<20_000 {
      index["key \(number % 500) of the index", default: []].append(number)
      seen.insert(number &* 2_654_435_761)
    }
    note(index.count + seen.count)
  }
}
