// A server that answers requests from a cache: level-cache WAY REQUESTS MICROSECONDS. Each request takes at least the
// given time. Way: levels (the cache is full after a tenth of the requests), limited (its oldest entry makes room), or
// grows (it never has an entry already). Keeps the cache until the end.

import Foundation

final class Entry {
  let text: [UInt8]
  init(_ number: Int) { text = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 2_000) }
}

final class Cache {
  var entries: [Int: Entry] = [:]
  var order: [Int] = []

  @inline(never) func length(_ key: Int, limit: Int) -> Int {
    if let known = entries[key] { return known.text.count }
    let entry = Entry(key)
    entries[key] = entry
    if limit < .max {
      order.append(key)
      if order.count > limit { entries[order.removeFirst()] = nil }
    }
    return entry.text.count
  }
}

let cache = Cache()

@inline(never) func respond(_ key: Int, limit: Int) -> Int {
  let lines = (0..<16).map { "line \(key + $0) of an answer" }
  return lines.joined(separator: "\n").utf8.count + cache.length(key, limit: limit)
}

let way = CommandLine.arguments[1]
let requests = Int(CommandLine.arguments[2])!
let pause = UInt32(CommandLine.arguments[3])!
print("ready \(getpid())")
fflush(stdout)
var sent = 0
for number in 0..<requests {
  sent += respond(way == "levels" ? number % (requests / 10) : number, limit: way == "limited" ? requests / 10 : .max)
  if pause > 0 { usleep(pause) }
}
print("sent \(sent), cached \(cache.entries.count)")
