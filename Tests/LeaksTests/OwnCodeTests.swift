// The owner of an object, and the place in the program's own code that caused its allocation.

import Testing
import TextWriting
import TraceTestSupport

@testable import LeakDetection
@testable import TraceReading
@testable import TraceReports
@testable import Wording

@Suite struct OwnCodeTests {
  private typealias Names = PackageProgram

  /// Returns the finding about lost subscriptions. The package makes each of them for one of the program's functions.
  private func lost(
    _ callers: [UInt64], inner: [UInt64] = [Names.sink], names: Names = Names(), ownModules: Set<String> = []
  ) throws -> Finding {
    let heap = HeapBuilder()
    heap.type("Feeds.Subscription", fields: [HeapBuilder.field("receive", 0)])
    heap.type("closure", kind: .closureContext, fields: nil)
    // Each caller makes several: a single one might belong to its function, which may still be running.
    for caller in callers + callers {
      let subscription = heap.object("Feeds.Subscription", stack: [0x1000_1010, caller] + inner)
      heap.set(subscription, 0, heap.object("closure", stack: [0x1000_1010, caller]))
    }
    let findings = try heap.analysis(naming: names, ownModules: ownModules).findings()
    #expect(findings.count == 1)
    return try #require(findings.first)
  }

  @Test func packageObjectIsPlacedAtTheProgramsCall() throws {
    let finding = try lost([Names.open])
    let step = try #require(finding.path.first)
    #expect(step.allocation?.function == "Feeds.Publisher.sink(_:)")
    #expect(step.ownAllocation?.function == "Desk.open(_:)" && step.place?.line == 12)
    #expect(step.library == "feeds")
    let text = FindingText.text(finding, style: TextStyle(width: 120))
    #expect(text.contains("allocated in Desk.open(_:)  Desk.swift:12") && !text.contains("sink"))
    #expect(
      FindingText.text(finding, style: TextStyle(width: 120, paths: .full)).contains(
        "Desk.open(_:) by Feeds.Publisher.sink(_:)  Desk.swift:12"))
  }

  @Test func defaultArgumentOfAPackageFunctionIsNotAProgramPlace() throws {
    #expect(try lost([Names.open], inner: [Names.argument]).path.first?.place?.function == "Desk.open(_:)")
  }

  @Test func eachProgramFunctionThatCallsThePackageIsAPlace() throws {
    let finding = try lost([Names.open, Names.watch, Names.watch])
    #expect(finding.places.map(\.place?.function) == ["Desk.watch(_:)", "Desk.open(_:)"])
    #expect(finding.places.map(\.instances) == [4, 2])
    // The baseline still names the package's function as the cause.
    #expect(try finding.fingerprint == lost([Names.open]).fingerprint)
  }

  @Test func vendoredCodeBelongsToTheProgramUnlessModulesAreNamed() throws {
    let vendored = Names(isCheckedOut: false)
    let own = try lost([Names.open], names: vendored)
    #expect(own.path.first?.ownAllocation == nil && own.path.first?.library == nil)
    let named = try lost([Names.open], names: vendored, ownModules: ["Shop"])
    #expect(named.path.first?.ownAllocation?.function == "Desk.open(_:)" && named.path.first?.library == "Feeds")
  }

  @Test func allocationInALoopCallbackIsNotPlacedOutsideIt() throws {
    let heap = HeapBuilder()
    heap.type("Feeds.Subscription", fields: [HeapBuilder.field("receive", 0)])
    heap.type("closure", kind: .closureContext, fields: nil)
    for _ in 0..<2 {
      let subscription = heap.object(
        "Feeds.Subscription", stack: [0x1000_1010, Names.open, RequestServer.callout, Names.sink])
      heap.set(subscription, 0, heap.object("closure", stack: [0x1000_1010, Names.open]))
    }
    let step = try #require(heap.analysis(naming: Names()).findings().first?.path.first)
    #expect(step.allocation?.function == "Feeds.Publisher.sink(_:)" && step.ownAllocation == nil)
  }

  @Test func cycleIsNamedByTheProgramsObjects() throws {
    let heap = HeapBuilder()
    heap.type("Shop.Board", fields: [HeapBuilder.field("token", 0)])
    heap.type("Feeds.Token", fields: [HeapBuilder.field("sink", 0)])
    heap.type("Feeds.Sink", fields: [HeapBuilder.field("owner", 0)])
    let board = heap.object("Shop.Board", stack: [Names.open])
    let token = heap.object("Feeds.Token", stack: [Names.open, Names.sink])
    let sink = heap.object("Feeds.Sink", stack: [Names.open, Names.sink])
    heap.set(board, 0, token)
    heap.set(token, 0, sink)
    heap.set(sink, 0, board)
    let finding = try #require(heap.analysis(naming: Names()).findings().first)
    #expect(FindingTitle.subject(finding) == "Board ↺")
    let text = FindingText.text(finding, style: TextStyle(width: 120))
    #expect(text.contains(".token  strong ──▶ … 2 steps of feeds …") && text.contains("└ .owner  strong ──▶ Board"))
    #expect(FindingText.text(finding, style: TextStyle(width: 120, paths: .full)).contains(".token  strong ──▶ Token"))
  }
}
