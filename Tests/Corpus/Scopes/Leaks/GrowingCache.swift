// A cache of responses that never evicts anything, and is asked for something else each time.

final class CachedResponse {
  let status: Int
  let body: [UInt8]

  init(status: Int, body: [UInt8]) {
    self.status = status
    self.body = body
  }
}

enum ResponseCache {
  nonisolated(unsafe) static var entries: [String: CachedResponse] = [:]
  nonisolated(unsafe) static var limit = Int.max
  /// Oldest first.
  nonisolated(unsafe) private static var order: [String] = []

  static func store(_ response: CachedResponse, for path: String) {
    entries[path] = response
    guard limit < .max else { return }
    order.append(path)
    if order.count > limit { entries[order.removeFirst()] = nil }
  }
}

enum GrowingCache: FaultyProgram {
  static func faulty() { serve() }

  static func correct() {
    ResponseCache.limit = 20
    serve()
  }

  private static func serve() {
    for number in 0..<400 { handle("/articles/\(number)?session=\(number * 7919)") }
    note(ResponseCache.entries.count)
  }

  @inline(never) private static func handle(_ path: String) {
    if let cached = ResponseCache.entries[path] { return note(cached.body.count) }
    let response = CachedResponse(status: 200, body: Array(path.utf8))
    ResponseCache.store(response, for: path)
    note(response.status)
  }
}
