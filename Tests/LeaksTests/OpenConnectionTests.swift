// What the open connections of a server keep.

import Testing
import TraceTestSupport

@testable import LeakDetection

@Suite struct OpenConnectionTests {
  private let server = RequestServer()
  private var heap: HeapBuilder { server.heap }
  private static let registry = "NIOPosix.Selector<NIOPosix.NIORegistration>"
  private static let table = "Swift._ContiguousArrayStorage<NIOPosix.NIORegistration>"
  private static let listener = "NIOPosix.ServerSocketChannel"
  private static let channel = "NIOPosix.SocketChannel"

  init() {
    heap.type(Self.registry, fields: [HeapBuilder.field("registrations", 0)])
    heap.type(Self.table, fields: nil)
    heap.type(Self.listener, fields: [])
    heap.type(Self.channel, fields: [HeapBuilder.field("parent", 0), HeapBuilder.field("handler", 1)])
  }

  /// The relations between a server, its sessions and their connections.
  enum Connections: CaseIterable {
    /// Peers opened the connections, and each has a session.
    case accepted
    /// The program keeps sessions, and each of them has a connection.
    case kept
    /// The program opened the connections.
    case own
    /// The connections are closed, and the program keeps them.
    case closed
    /// One connection collects all sessions.
    case collected
  }

  @Test(arguments: Connections.allCases) func theProgramDoesNotEndOpenConnections(connections: Connections) throws {
    let listener = heap.object(Self.listener)
    heap.global(listener)
    let registry = heap.object(Self.registry)
    heap.global(registry)
    let table = heap.object(Self.table, size: 4096)
    heap.set(registry, 0, table)
    let first = heap.object(Self.channel)
    heap.set(first, 0, listener)
    let collection = heap.malloc(4096)
    heap.set(first, 1, collection)
    server.put(first, in: table)
    for _ in 0..<80 {
      let session = server.request(keep: true)
      if connections == .collected {
        server.put(session, in: collection)
        continue
      }
      let channel = heap.object(Self.channel, stack: server.outer)
      if connections != .own { heap.set(channel, 0, listener) }
      if connections != .closed { server.put(channel, in: table) }
      if connections == .kept || connections == .closed {
        server.put(session)
        heap.set(session, 1, channel)
      } else {
        heap.set(channel, 1, session)
      }
    }
    let findings = try server.heap.findings(RequestServer.functions)
    let isOpen = connections == .accepted || connections == .kept
    #expect(findings.contains { !$0.isWeak } == !isOpen, "\(findings.map(\.path))")
    // The first channel belongs to the channels.
    let figures = ["80 instances, 80 connections", "81 instances, 81 connections"]
    let rules = try server.accounts().flatMap(\.entries).filter { $0.rule == .openConnections }
    #expect(rules.isEmpty == !isOpen)
    #expect(rules.allSatisfy { $0.effect == .weakens && figures.contains($0.figures) })
  }
}
