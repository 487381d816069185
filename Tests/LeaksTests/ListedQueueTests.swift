// Queues that are linked lists: each object holds the next.

import Testing
import TraceTestSupport

@testable import LeakDetection
@testable import TraceReading
@testable import TraceReports
@testable import Wording

@Suite struct ListedQueueTests {
  /// A server with `count` requests. Each leaves a session at the end of a list. `consumed`: the number of sessions
  /// taken from the start of the list after each request.
  private func server(_ count: Int, isCalledBack: Bool, consumed: (Int) -> Int) -> RequestServer {
    let server = RequestServer(isCalledBack: isCalledBack)
    let queue = server.heap.object("App.Registry", stack: [0x1000_1010])
    server.heap.global(queue)
    var sessions: [HeapBuilder.Object] = []
    var taken = 0
    for index in 0..<count {
      let session = server.request(keep: true)
      if let last = sessions.last { server.heap.set(last, 0, session) }
      sessions.append(session)
      while taken < min(consumed(index), index) {
        server.heap.free(sessions[taken], stack: server.inner)
        taken += 1
      }
    }
    server.heap.set(queue, 0, sessions[taken])
    return server
  }

  @Test func listWithAStoppedConsumerAccumulates() throws {
    let finding = try server(300, isCalledBack: false) { min($0, 90) }.finding()
    #expect(finding.verdict == .accumulating && !finding.isWeak)
    // The service holds the first session, which is not counted.
    #expect(finding.instances == 209)
  }

  @Test func listWithASlowConsumerAccumulates() throws {
    let finding = try server(600, isCalledBack: true) { $0 / 3 }.finding()
    #expect(finding.verdict == .accumulating && !finding.isWeak)
    #expect((395...405).contains(finding.instances))
  }

  /// Returns the findings if one session in five stays in a list of `length`. The other sessions end some requests
  /// later.
  private func findings(ofListsOf length: Int) throws -> [Finding] {
    let server = RequestServer(isCalledBack: false)
    var (last, ending): (HeapBuilder.Object?, [HeapBuilder.Object]) = (nil, [])
    for index in 0..<600 {
      let session = server.request(keep: true)
      guard index % 5 == 0 else {
        ending.append(session)
        if ending.count > 8 { server.heap.free(ending.removeFirst(), stack: server.inner) }
        continue
      }
      if index / 5 % length != 0, let last {
        server.heap.set(last, 0, session)
      } else {
        let list = server.heap.object("App.Registry", stack: [0x1000_1010])
        server.heap.global(list)
        server.heap.set(list, 0, session)
      }
      last = session
    }
    for session in ending { server.heap.free(session, stack: server.inner) }
    return try server.findings()
  }

  @Test func longListOfSurvivorsIsReported() throws {
    let findings = try findings(ofListsOf: 120)
    #expect(findings.map(\.verdict) == [.outlived] && findings.map(\.instances) == [119])
  }

  @Test func shortListsAreNotReportedAsOneLongList() throws {
    #expect(try findings(ofListsOf: 8).allSatisfy { $0.instances <= 15 })
  }

  @Test(arguments: [true, false])
  func listConsumedInTimeIsNotReported(isCalledBack: Bool) throws {
    #expect(try server(600, isCalledBack: isCalledBack) { $0 - 40 }.findings().isEmpty)
  }

  @Test func middleOfAListIsFolded() throws {
    let finding = try server(300, isCalledBack: false) { min($0, 90) }.finding()
    let rows = PathFolding.rows(of: finding.path, below: finding.evidence.retention?.suspect)
    // The rows are the service, its session and two more, the number of the others, and the last two sessions.
    #expect(rows.count == 7)
    let counts = rows.compactMap { row in
      if case .repeated(_, let count) = row { count } else { nil }
    }
    let length = finding.path.count + finding.path.compactMap(\.omittedBefore).reduce(0, +)
    #expect(counts == [length - 6])
    #expect(PathFolding.rows(of: finding.path, below: nil, isFolded: false).count == finding.path.count)
  }

  /// Makes a path from a queue through objects whose classes alternate.
  private func path(_ count: Int, of classes: [String]) -> [Finding.Step] {
    (0..<count).map { index in
      let type = index == 0 ? "Queue" : classes[(index - 1) % classes.count]
      return Finding.Step(
        kind: .object, type: type, qualifiedType: "App.\(type)", stack: StackID(0),
        address: RuntimeAddress(0x1000), size: ByteCount(48),
        reference: .init(
          name: index == 0 ? "front" : "next", strength: .strong, isClosure: false, isCapture: false,
          capturesSelf: false))
    }
  }

  @Test func alternatingClassesAreFolded() {
    let rows = PathFolding.rows(of: path(31, of: ["Link", "Letter"]), below: 30)
    #expect(rows.contains { if case .repeated(_, let count) = $0 { count > 20 } else { false } })
    #expect(PathFolding.rows(of: path(31, of: ["A", "B", "C", "D", "E", "F"]), below: 30).count == 31)
  }

  @Test func suspectReferenceIsNeverFolded() {
    for suspect in 1..<31 {
      let rows = PathFolding.rows(of: path(31, of: ["Link"]), below: suspect)
      #expect(rows.contains(.object(suspect)) && rows.contains(.object(suspect - 1)))
    }
  }

  @Test func adviceNamesTheLinkAndTheFirstObject() throws {
    let finding = try server(300, isCalledBack: false) { min($0, 90) }.finding()
    let advice = finding.advice.map(AdviceWords.sentence)
    #expect(advice.contains { $0.hasPrefix("Each Session keeps another by Session.next, and Registry.sessions leads") })
  }
}
