// Works as a server does, in one of several ways, while it is watched from outside: watched WAY. Its work depends on the
// time alone: if it is held up, it catches up afterwards. Ends in good order on SIGHUP.

import Foundation

final class Session {
  let user: String
  var rows: [Int]
  init(_ number: Int) {
    user = "user \(number), whose name is kept on the heap"
    rows = Array(0..<number % 20)
  }
}

final class Screen {
  let number: Int
  var onClose: (() -> Void)?
  init(_ number: Int) { self.number = number }
  func open() { onClose = { print(self.number) } }
}

/// A cache with a limit: the oldest entry makes room.
final class Cache {
  let limit: Int
  var entries: [Int: Session] = [:]
  var order: [Int] = []
  init(limit: Int) { self.limit = limit }

  func session(_ key: Int) -> Session {
    if let known = entries[key] { return known }
    if order.count >= limit { entries[order.removeFirst()] = nil }
    order.append(key)
    let made = Session(key)
    entries[key] = made
    return made
  }
}

final class Bus {
  static let shared = Bus()
  var observers: [() -> Void] = []
}

final class Server {
  nonisolated(unsafe) static let shared = Server()
  var cache = Cache(limit: 400)
  var sessions: [Int: Session] = [:]
  var pool: [Session] = []
  var backlog: [Session] = []
  var log: [String] = []
  var ring = [Session?](repeating: nil, count: 300)
  var byName: [String: Int] = [:]
}

/// Equal numbers in each run.
struct Numbers: RandomNumberGenerator {
  var state: UInt64 = 42
  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state ^ (state >> 29)
  }
}

/// Requests a second.
let rate = 200.0
let way = CommandLine.arguments.dropFirst().first ?? "idle"
let server = Server.shared
nonisolated(unsafe) var numbers = Numbers()

/// One request at a time in seconds since the start.
func serve(_ number: Int, at time: Double) {
  switch way {
  // Leaks.
  case "registry":
    server.sessions[number] = Session(number)
  case "fluctuating-registry":
    // Up to 55 others come and go.
    if number % 3 == 0 { server.sessions[number] = Session(number) }
    let open = Int(30 + 25 * sin(time * 5))
    server.sessions[-(number % 60)] = number % 60 < open ? Session(number) : nil
  case "observers":
    let session = Session(number)
    Bus.shared.observers.append { print(session.user) }
  case "delayed":
    let session = Session(number)
    DispatchQueue.global().asyncAfter(deadline: .now() + 1000) { print(session.user) }
  case "cycles":
    Screen(number).open()
  case "log":
    server.log.append("request \(number), with a line that is kept on the heap")
  // None.
  case "cache":
    _ = server.cache.session(Int.random(in: 0..<100_000, using: &numbers))
  case "small-cache":
    // It knows all keys soon.
    _ = server.cache.session(Int.random(in: 0..<200, using: &numbers))
  case "pool":
    if server.pool.count < 150 { server.pool.append(Session(number)) }
    server.pool[number % server.pool.count].rows.append(number)
    server.pool[number % server.pool.count].rows = []
  case "backlog":
    let wanted = Int(100 + 90 * sin(time * 2.5))
    server.backlog.append(Session(number))
    if server.backlog.count > wanted { server.backlog.removeFirst(server.backlog.count - wanted) }
  case "emptied-log":
    server.log.append("request \(number), with a line that is kept on the heap")
    if server.log.count >= 500 { server.log = [] }
  case "sessions":
    server.sessions[number] = Session(number)
    server.sessions[number - 150] = nil
  case "steps":
    // Twice as many users after four seconds, and again after eight.
    server.sessions[number] = Session(number)
    let users = time < 4 ? 60 : time < 8 ? 120 : 240
    for old in stride(from: number - users, through: max(0, number - 400), by: -1) { server.sessions[old] = nil }
  case "ring":
    server.ring[number % server.ring.count] = Session(number)
  case "names":
    server.byName["name \(number % 120), which is kept on the heap", default: 0] += 1
  default: break
  }
}

let start = Date()
setvbuf(stdout, nil, _IONBF, 0)
print("ready \(getpid())")
nonisolated(unsafe) var isOver = false
signal(SIGHUP) { _ in isOver = true }
var number = 0
while !isOver {
  let time = Date().timeIntervalSince(start)
  while Double(number) < time * rate {
    serve(number, at: Double(number) / rate)
    number += 1
  }
  usleep(5000)
}
server.sessions = [:]
