// Work that is done several times over: what grows by one holder, and what only looks as if it did. `NAME` repeats that work through LeakTrace; `served NAME IN OUT`
// does it once for each line of a pipe, and answers in another; `handles SIGNAL` has the signal for itself.

import Dispatch
import Foundation
import LeakTrace

final class Screen {
  let number: Int
  var rows: [String]
  init(_ number: Int) {
    self.number = number
    rows = (0..<3).map { "row \($0) of a list on screen \(number)" }
  }
}

@inline(never) func use(_ value: Any) { withExtendedLifetime(value) {} }

// MARK: What grows

final class Navigator: @unchecked Sendable {
  static let shared = Navigator()
  var history: [Screen] = []
  var visits: [String: Int] = [:]
  var seen: Set<Int> = []
  var handlers: [() -> Void] = []
  private var opened = 0

  @inline(never) func open() -> Screen {
    opened += 1
    let screen = Screen(opened)
    history.append(screen)
    return screen
  }

  /// Forgets every fourth.
  @inline(never) func close(_ screen: Screen) { if screen.number % 4 != 0 { history.removeAll { $0 === screen } } }
}

func registry() { for _ in 0..<8 { Navigator.shared.close(Navigator.shared.open()) } }
func dictionary() { for _ in 0..<10 { Navigator.shared.visits["a page with a long name, \(Navigator.shared.visits.count)"] = 1 } }
func set() { for _ in 0..<10 { Navigator.shared.seen.insert(Navigator.shared.seen.count) } }
func closures() {
  for number in 0..<3 {
    let title = "a title that takes some room, \(number)"
    Navigator.shared.handlers.append { use(title) }
  }
}

nonisolated(unsafe) var log: [String] = []
func lines() { for number in 0..<5 { log.append("a line of the log that takes some room, \(number)") } }

final class Observer {
  var changes = 0
  @inline(never) func observe() {
    _ = NotificationCenter.default.addObserver(forName: Notification.Name("changed"), object: nil, queue: nil) { _ in self.changes += 1 }
  }
}
func observers() { for _ in 0..<2 { Observer().observe() } }

final class Node { var next: Node? }
final class Chain: @unchecked Sendable {
  static let shared = Chain()
  var first: Node?
  private weak var last: Node?
  @inline(never) func append() {
    let node = Node()
    if let last { last.next = node } else { first = node }
    last = node
  }
}
func list() { for _ in 0..<4 { Chain.shared.append() } }

final class Backlog: @unchecked Sendable {
  static let shared = Backlog()
  var jobs: [Node] = []
}
func backlog() {
  for _ in 0..<10 { Backlog.shared.jobs.append(Node()) }
  Backlog.shared.jobs.removeFirst(8)
}

final class Ticker {
  private let source = DispatchSource.makeTimerSource(queue: .global())
  private var ticks = 0
  @inline(never) func start() {
    source.schedule(deadline: .now() + 3600, repeating: 3600)
    source.setEventHandler { self.ticks += 1 }
    source.resume()
  }
}
func timers() { Ticker().start() }

func later() {
  let screen = Screen(1)
  DispatchQueue.global().asyncAfter(deadline: .now() + 3600) { use(screen) }
}

func sleepers() async {
  let screen = Screen(1)
  Task {
    try? await Task.sleep(nanoseconds: 3_600_000_000_000)
    use(screen)
  }
}

actor Store {
  static let shared = Store()
  private var sessions: [Int: Screen] = [:]
  func add() { sessions[sessions.count] = Screen(sessions.count) }
}
func actors() async {
  await withTaskGroup(of: Void.self) { group in
    for _ in 0..<6 { group.addTask { await Store.shared.add() } }
  }
}

// MARK: What does not

final class Cache: @unchecked Sendable {
  static let shared = Cache()
  private var screens: [Int: Screen] = [:]
  private var used: [Int] = []
  private var seed: UInt64 = 1

  /// Keeps those that were used last.
  @inline(never) func screen(_ key: Int, limit: Int) {
    if screens[key] == nil { screens[key] = Screen(key) } else { used.removeAll { $0 == key } }
    used.append(key)
    if used.count > limit { screens[used.removeFirst()] = nil }
  }

  func random(below limit: Int) -> Int {
    seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int(seed >> 33) % limit
  }

  /// Fills up, by less each time.
  @inline(never) func fill(_ count: Int) { for _ in 0..<count { screens[screens.count] = Screen(screens.count) } }
}
nonisolated(unsafe) var key = 0
func bounded() {
  for _ in 0..<20 {
    key += 1
    Cache.shared.screen(key, limit: 30)
  }
}
func recentlyUsed() { for _ in 0..<100 { Cache.shared.screen(Cache.shared.random(below: 200), limit: 40) } }
nonisolated(unsafe) var share = 100
func filling() {
  share /= 2
  Cache.shared.fill(share)
}

nonisolated(unsafe) var pool: [Screen] = []
nonisolated(unsafe) var wanted = 4
func pooled() {
  wanted = 3 + (wanted + 2) % 5
  let taken = (0..<wanted).map { pool.popLast() ?? Screen($0) }
  for screen in taken where pool.count < 6 { pool.append(screen) }
}

enum Lazy {
  static let third = Screen(3), fourth = Screen(4), fifth = Screen(5), sixth = Screen(6)
}
nonisolated(unsafe) var round = 0
func lazies() {
  round += 1
  switch round {
  case 3: use(Lazy.third)
  case 4: use(Lazy.fourth)
  case 5: use(Lazy.fifth)
  case 6: use(Lazy.sixth)
  default: break
  }
}

func garbage() { use((0..<50).map(Screen.init)) }

/// The main thread does these when it has come to the end of all rounds.
func pending() {
  for number in 0..<3 {
    let screen = Screen(number)
    DispatchQueue.main.async { use(screen) }
  }
}
func pendingTasks() {
  for number in 0..<3 {
    let screen = Screen(number)
    Task { @MainActor in use(screen) }
  }
}

let serial = DispatchQueue(label: "serial"), gate = DispatchSemaphore(value: 0)
nonisolated(unsafe) var isBlocked = false
func blocked() {
  if !isBlocked { serial.async { gate.wait() } }
  isBlocked = true
  for number in 0..<3 {
    let screen = Screen(number)
    serial.async { use(screen) }
  }
}

nonisolated(unsafe) var buffer: [String] = []
func buffered() {
  for number in 0..<24 {
    buffer.append("a line of the log that takes some room, \(number)")
    if buffer.count == 16 { buffer.removeAll(keepingCapacity: true) }
  }
}

struct Wrapper<Value> { var value: Value }
final class Box<Value> {
  var value: Value
  init(_ value: Value) { self.value = value }
}
func nest<Value>(_ value: Value, _ depth: Int) -> String { depth == 0 ? "\(type(of: Box(value)))" : nest(Wrapper(value: value), depth - 1) }
func generics() {
  round += 1
  for depth in 0..<3 { use(nest(round, 3 * round + depth)) }
}

func children() async {
  await withTaskGroup(of: Int.self) { group in
    for number in 0..<20 {
      group.addTask {
        let screen = Screen(number)
        await Task.yield()
        return screen.number
      }
    }
    for await number in group { use(number) }
  }
}

/// The caller's own variable holds the screens on purpose.
func collected() {
  var screens: [Screen] = []
  LeakTrace.repeat("collected") { screens.append(Screen(screens.count)) }
  use(screens)
}

// MARK: Doing it

let works: [String: () -> Void] = [
  "registry": registry, "dictionary": dictionary, "set": set, "closures": closures, "lines": lines, "observers": observers, "list": list, "backlog": backlog,
  "timers": timers, "later": later, "bounded": bounded, "recentlyUsed": recentlyUsed, "filling": filling, "pooled": pooled, "lazies": lazies, "garbage": garbage,
  "pending": pending, "pendingTasks": pendingTasks, "blocked": blocked, "buffered": buffered, "generics": generics,
]
let suspendingWorks: [String: () async -> Void] = ["sleepers": sleepers, "actors": actors, "children": children]

struct Stop: Error {}
nonisolated(unsafe) var handled: Int32 = 0

let name = CommandLine.arguments[1]
switch name {
case "collected": collected()
case "served":
  let work = works[CommandLine.arguments[2]]!
  let requests = FileHandle(forReadingAtPath: CommandLine.arguments[3])!, answers = FileHandle(forWritingAtPath: CommandLine.arguments[4])!
  // Until the other end is closed.
  while requests.availableData.count > 0 {
    work()
    answers.write(Data("done\n".utf8))
  }
case "handles":
  signal(SIGUSR2) { _ in handled += 1 }
  for _ in 0..<6 { raise(SIGUSR2) }
  print("handled \(handled)")
case "throws":
  var rounds = 0
  do {
    try LeakTrace.repeat("throws", times: 9) {
      rounds += 1
      if rounds == 3 { throw Stop() }
    }
  } catch { print("thrown after \(rounds)") }
  await LeakTrace.repeat("suspends", times: 2) { await Task.yield() }
  LeakTrace.repeat(times: 0) { fatalError() }
  LeakTrace.repeat(times: -1) { fatalError() }
default:
  if let work = works[name] { LeakTrace.repeat(name) { work() } } else { await LeakTrace.repeat(name) { await suspendingWorks[name]!() } }
}
