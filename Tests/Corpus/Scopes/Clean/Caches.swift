// Caches and tables that stop growing: they have a limit, or there is only so much to be kept.
import Foundation

final class Thumbnail {
  let pixels: [UInt8]
  init(asset: Int) { pixels = (0..<64).map { UInt8(truncatingIfNeeded: $0 &* asset) } }
}

/// Fifty assets are asked for again and again.
enum WarmUpCache: CleanProgram {
  nonisolated(unsafe) private static var thumbnails: [String: Thumbnail] = [:]

  static func correct() {
    for number in 0..<2000 { show(asset: number &* 7919 % 50) }
  }

  @inline(never) private static func show(asset: Int) {
    let key = "asset \(asset)"
    if let cached = thumbnails[key] { return note(cached.pixels.count) }
    let thumbnail = Thumbnail(asset: asset)
    thumbnails[key] = thumbnail
    note(thumbnail.pixels.count)
  }
}

final class RouteEstimate {
  let minutes: Int
  init(minutes: Int) { self.minutes = minutes }
}

/// The least recently used goes first; few enough that an array will do.
struct EstimateCache {
  private var entries: [(key: Int, value: RouteEstimate)] = []
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  mutating func estimate(for key: Int, orMake make: () -> RouteEstimate) -> RouteEstimate {
    let entry =
      if let index = entries.firstIndex(where: { $0.key == key }) { entries.remove(at: index) } else { (key: key, value: make()) }
    entries.append(entry)
    if entries.count > limit { entries.removeFirst() }
    return entry.value
  }
}

enum Memoisation: CleanProgram {
  nonisolated(unsafe) private static var recent = EstimateCache(limit: 24)
  nonisolated(unsafe) private static let tiles = NSCache<NSNumber, Thumbnail>()

  static func correct() {
    tiles.countLimit = 30
    for number in 0..<600 {
      plan(from: number % 7 == 0 ? number % 90 : number % 12)
      draw(tile: number % 120)
    }
  }

  @inline(never) private static func plan(from start: Int) {
    note(recent.estimate(for: start) { RouteEstimate(minutes: start * 3) }.minutes)
  }

  @inline(never) private static func draw(tile: Int) {
    if let cached = tiles.object(forKey: NSNumber(value: tile)) { return note(cached.pixels.count) }
    tiles.setObject(Thumbnail(asset: tile), forKey: NSNumber(value: tile))
  }
}

final class Symbol {
  let name: String
  init(name: String) { self.name = name }
}

/// A lexer that gives every identifier one object, however often it occurs: 300 of them.
enum SymbolInterning: CleanProgram {
  nonisolated(unsafe) private static var table: [String: Symbol] = [:]

  static func correct() {
    for line in 0..<900 { lex("let value\(line % 300) = value\((line + 7) % 300) + value\((line + 31) % 300)") }
    note(table.count)
  }

  @inline(never) private static func lex(_ line: String) {
    for word in line.split(separator: " ") where word.hasPrefix("value") { note(intern(String(word)).name.count) }
  }

  private static func intern(_ name: String) -> Symbol {
    if let symbol = table[name] { return symbol }
    let symbol = Symbol(name: name)
    table[name] = symbol
    return symbol
  }
}

final class ScratchBuffer {
  var bytes: [UInt8] = []
}

/// Buffers that are lent and given back: never more than eight.
enum ObjectPool: CleanProgram {
  nonisolated(unsafe) private static var free: [ScratchBuffer] = []

  static func correct() {
    for number in 0..<500 { compress("block \(number)", nesting: number % 8) }
    note(free.count)
  }

  @inline(never) private static func compress(_ text: String, nesting: Int) {
    let buffer = free.popLast() ?? ScratchBuffer()
    buffer.bytes.replaceSubrange(0..<buffer.bytes.count, with: text.utf8)
    if nesting > 0 { compress(text, nesting: nesting - 1) }
    note(buffer.bytes.count)
    if free.count < 8 { free.append(buffer) }
  }
}

final class Formatters {
  private let date: DateFormatter
  private var uses = 0

  init() {
    date = DateFormatter()
    date.dateFormat = "yyyy-MM-dd"
  }

  func text(_ day: Int) -> String {
    uses += 1
    return date.string(from: Date(timeIntervalSince1970: Double(day) * 86_400))
  }
}

/// Each thread of three keeps a formatter of its own, to the end.
enum ThreadCaches: CleanProgram {
  static func correct() {
    let answered = DispatchSemaphore(value: 0)
    for _ in 0..<3 {
      let thread = Thread {
        for day in 0..<20 { note(format(day)) }
        answered.signal()
        // As a thread that waits for the next work.
        while true { sleep(1) }
      }
      thread.start()
    }
    for _ in 0..<3 { answered.wait() }
    usleep(10_000)
  }

  @inline(never) private static func format(_ day: Int) -> Int {
    let dictionary = Thread.current.threadDictionary
    let formatters = dictionary["formatters"] as? Formatters ?? Formatters()
    dictionary["formatters"] = formatters
    return formatters.text(day).count
  }
}
