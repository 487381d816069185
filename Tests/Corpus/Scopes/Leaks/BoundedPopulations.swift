// Populations with a bound, and faulty variants that keep the removed objects in another place: caches whose popular entries drift, sessions that expire, sockets beside short requests,
// connections that are lent.
import Foundation

private final class MapTile {
  let pixels: [UInt8]
  init(number: Int) { pixels = (0..<48).map { UInt8(truncatingIfNeeded: $0 &* number) } }
}

/// The least recently used goes first. The part of the map that people look at moves slowly on.
enum DriftingTiles: FaultyProgram {
  nonisolated(unsafe) private static var tiles: [(number: Int, tile: MapTile)] = []
  nonisolated(unsafe) private static var byNumber: [Int: MapTile] = [:]

  static func faulty() { browse(forgetting: false) }
  static func correct() { browse(forgetting: true) }

  private static func browse(forgetting: Bool) {
    for step in 0..<3000 { show(step / 60 + step &* 7919 % 24, forgetting: forgetting) }
  }

  @inline(never) private static func show(_ number: Int, forgetting: Bool) {
    if let index = tiles.firstIndex(where: { $0.number == number }) {
      let entry = tiles.remove(at: index)
      tiles.append(entry)
      return note(entry.tile.pixels.count)
    }
    let tile = MapTile(number: number)
    tiles.append((number, tile))
    byNumber[number] = tile
    if tiles.count > 30 {
      let oldest = tiles.removeFirst()
      if forgetting { byNumber[oldest.number] = nil }
    }
    note(tile.pixels.count)
  }
}

private final class LoginSession {
  let user: String
  let expires: Int

  init(user: String, expires: Int) {
    self.user = user
    self.expires = expires
  }
}

/// A session lasts for 200 requests, whether it is used or not; who forgets to sweep keeps them all.
enum ExpiringSessions: FaultyProgram {
  nonisolated(unsafe) private static var sessions: [Int: LoginSession] = [:]

  static func faulty() { serve(sweeping: false) }
  static func correct() { serve(sweeping: true) }

  private static func serve(sweeping: Bool) {
    for clock in 0..<3000 {
      if clock % 5 == 0 { logIn(clock) }
      request(clock)
      if sweeping, clock % 20 == 0 { sessions = sessions.filter { $0.value.expires > clock } }
    }
  }

  @inline(never) private static func logIn(_ clock: Int) { sessions[clock] = LoginSession(user: "user number \(clock % 90)", expires: clock + 200) }
  @inline(never) private static func request(_ clock: Int) { note(sessions[clock / 5 * 5]?.user.count ?? 0) }
}

private final class LiveSocket {
  let topic: String
  private(set) var sent = 0

  init(topic: String) { self.topic = topic }
  func send(_ bytes: Int) { sent += bytes }
}

/// Some connections become sockets that stay open for long, beside many short ones of the same type. One of four that are closed is not taken out of the list of its topic.
enum SocketsBesideRequests: FaultyProgram {
  nonisolated(unsafe) private static var open: [Int: LiveSocket] = [:]
  nonisolated(unsafe) private static var topics: [String: [LiveSocket]] = [:]

  static func faulty() { serve(leaving: false) }
  static func correct() { serve(leaving: true) }

  private static func serve(leaving: Bool) {
    for number in 0..<6000 {
      connect(number)
      publish(number)
      if number % 25 != 0 { close(number, leaving: leaving) }
      // Long-lived ones are closed after some hundreds of others.
      if number % 25 == 0, number >= 500 { close(number - 500, leaving: leaving || number % 100 > 0) }
    }
  }

  @inline(never) private static func connect(_ number: Int) {
    let socket = LiveSocket(topic: "topic \(number % 6)")
    open[number] = socket
    if number % 25 == 0 { topics[socket.topic, default: []].append(socket) }
  }

  @inline(never) private static func publish(_ number: Int) {
    open[number]?.send(number)
    note(open[number / 25 * 25]?.sent ?? 0)
  }

  @inline(never) private static func close(_ number: Int, leaving: Bool) {
    guard let socket = open.removeValue(forKey: number) else { return }
    if leaving { topics[socket.topic]?.removeAll { $0 === socket } }
    note(socket.sent)
  }
}

private final class DatabaseLink {
  let address: String
  private(set) var queries = 0

  init(number: Int) { address = "10.0.0.\(number % 8):5432" }
  func query(_ text: String) { queries += text.count }
}

/// Up to eight links are lent and given back, and replaced when they are worn. Who does not take worn links off the list of all keeps them.
enum LentLinks: FaultyProgram {
  nonisolated(unsafe) private static var idle: [DatabaseLink] = []
  nonisolated(unsafe) private static var all: [DatabaseLink] = []
  nonisolated(unsafe) private static var made = 0

  static func faulty() { serve(retiring: false) }
  static func correct() { serve(retiring: true) }

  private static func serve(retiring: Bool) {
    for number in 0..<2000 { handle(number, depth: number % 8, retiring: retiring) }
    note(idle.count + all.count)
  }

  @inline(never) private static func handle(_ number: Int, depth: Int, retiring: Bool) {
    let link = idle.popLast() ?? open()
    link.query("select name from people where id = \(number)")
    if depth > 0 { handle(number + 1, depth: depth - 1, retiring: retiring) }
    if link.queries < 3000 {
      idle.append(link)
    } else if retiring {
      all.removeAll { $0 === link }
    }
  }

  @inline(never) private static func open() -> DatabaseLink {
    made += 1
    let link = DatabaseLink(number: made)
    all.append(link)
    return link
  }
}
