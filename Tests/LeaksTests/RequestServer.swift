// A server that makes heaps, for tests of objects that outlive their scope.

import Testing
import TraceTestSupport

@testable import LeakDetection

/// A program that handles one request after the other, each in a separate call.
final class RequestServer {
  let heap = HeapBuilder()
  /// The memory of a collection that a global variable holds.
  let store: HeapBuilder.Object
  private var used: [UInt64: UInt64] = [:]

  static let callout: UInt64 = 0x1000_1100
  static let serve: UInt64 = 0x1000_1200
  static let handle: UInt64 = 0x1000_1300
  static let functions: [UInt64: String] = [
    0x1000_1010: "main()", callout: "system _dispatch_client_callout", serve: "Server.serve()",
    handle: "Server.handle(_:)",
    0x1000_1400: "Server.prepare()",
  ]

  /// The stack from the outermost frame to the serving function. A queue calls that function, or the function contains
  /// a loop.
  let outer: [UInt64]
  var inner: [UInt64] { outer + [Self.handle] }

  init(isCalledBack: Bool = true) {
    outer = (isCalledBack ? [Self.callout] : [0x1000_1010]) + [Self.serve]
    heap.type("App.Session", fields: [HeapBuilder.field("next", 0), HeapBuilder.field("body", 1)])
    heap.type("App.Registry", fields: [HeapBuilder.field("sessions", 0)])
    store = heap.malloc(1 << 15, stack: [0x1000_1010])
    heap.global(store)
  }

  /// Stores a reference in the next free word of a block.
  func put(_ object: HeapBuilder.Object, in block: HeapBuilder.Object? = nil) {
    let block = block ?? store
    heap.words[block.address + 16 + 8 * used[block.address, default: 0]] = object.address
    used[block.address, default: 0] += 1
  }

  /// Handles a request, which makes a session. The request ends the session unless `keep` is set, because something
  /// else then holds it.
  @discardableResult
  func request(keep: Bool, thread: UInt32 = 1) -> HeapBuilder.Object {
    heap.visit(outer, thread: thread)
    heap.time += 10_000
    let session = heap.object("App.Session", stack: inner, thread: thread)
    heap.visit(inner, thread: thread)
    if !keep { heap.free(session, stack: inner, thread: thread) }
    heap.visit(outer, thread: thread)
    return session
  }

  /// Serves `count` requests. The requests that `keep` chooses leave their session in the store.
  @discardableResult
  func requests(_ count: Int, keep: (Int) -> Bool = { _ in false }) -> [HeapBuilder.Object] {
    (0..<count).compactMap { index in
      let session = request(keep: keep(index))
      if !keep(index) { return nil }
      put(session)
      return session
    }
  }

  /// Returns the findings about objects of one type.
  func findings(of type: String = "App.Session") throws -> [Finding] {
    try heap.findings(Self.functions).filter { $0.path.last?.qualifiedType == type }
  }

  /// Returns the candidates for a suspicion, with the effects of the rules.
  func accounts() throws -> [SuspicionAccount] { try heap.analysis(Self.functions).suspicionAccounts() }

  /// Makes 60 requests that leave their sessions, and then many requests that leave none.
  func levelOff() {
    requests(60) { _ in true }
    for _ in 0..<600 {
      heap.time += 10_000
      heap.visit(inner)
      heap.visit(outer)
    }
  }

  func finding(of type: String = "App.Session") throws -> Finding {
    let findings = try findings(of: type)
    #expect(findings.count == 1)
    return try #require(findings.first)
  }
}
