// The functions that a retain history names, on traces made by hand.

import Testing
import TraceTestSupport

@testable import LeakDetection
@testable import TraceReading
@testable import TraceSymbolication

/// A program of named functions. Each has its own address, with the line in the low digits.
private struct Program {
  var trace = TraceBuilder()
  var naming = TableNaming()
  private var functions: [String: UInt64] = [:]
  private var time: UInt64 = 1000
  let type: UInt32
  static let object: UInt64 = 0x5000

  init() {
    trace.definitions = [.process(ProcessRecord(executable: "/bin/app", flags: 1))]
    trace.image("/bin/app", 0x40_0000..<0x80_0000)
    type = trace.type("App.Node")
  }

  /// `calls`: calls as "function:line", from the outermost inwards.
  mutating func stack(_ calls: [String]) -> StackID {
    trace.stack(calls.map { address($0) })
  }

  private mutating func address(_ call: String) -> UInt64 {
    if let known = functions[call] { return known }
    let parts = call.split(separator: "@")
    let address = 0x40_0000 + UInt64(functions.count) * 16
    naming.add(
      address, String(parts[0]), file: "/src/App.swift", line: parts.count > 1 ? Int(parts[1]) : nil,
      kind: parts[0] == "start_thread" ? .systemLibrary : .user)
    functions[call] = address
    return address
  }

  mutating func event(
    _ operation: TraceReading.Operation, _ calls: String..., count: UInt64 = 0, at address: UInt64 = Program.object,
    thread: UInt32 = 1
  ) {
    time += 8
    let size: UInt64 = operation == .object ? 48 : count
    trace.event(
      operation, address, size: size, type: operation == .object ? type : 0, stack: stack(calls), time: time,
      thread: thread)
  }

  func report(_ query: RetainQuery = .address(RuntimeAddress(Program.object))) throws -> HistoryReport? {
    let reader = try trace.reader()
    return HistoryAnalysis(reader, AllocationAnalysis(reader), snapshot: nil, naming: naming).report(query)
  }

  /// Returns the function, the line and the number of retains that were never released.
  func open() throws -> [String] {
    try #require(try report()).openSites.map {
      "\($0.place.function?.function ?? "?")@\($0.place.function?.line ?? 0) ×\($0.rest)"
    }
  }
}

@Suite struct RetainHistoryTests {
  @Test func unreleasedRetainIsSeparatedFromAReleasedOne() throws {
    var program = Program()
    program.event(.object, "main", "make()@1")
    program.event(.retain, "main", "borrow()@5")
    program.event(.retain, "main", "keep()@9")
    program.event(.release, "main", "borrow()@6")
    program.event(.release, "main", "make()@2")
    #expect(try program.open() == ["keep()@9 ×1"])
    let rows = try #require(try program.report()?.object).rows
    #expect(rows.map(\.partners) == [[5], [4], [], [2], [1]])
    #expect(rows.map(\.strong) == [1, 2, 3, 2, 1])
    #expect(rows.map(\.rest) == [0, 0, 1, 0, 0])
  }

  @Test func lastReleaseInTheAllocatingFunctionBalancesTheAllocation() throws {
    var program = Program()
    program.event(.object, "main", "show()@17", "Node.__allocating_init()@3")
    program.event(.retain, "main", "show()@18")
    program.event(.retain, "main", "show()@21")
    program.event(.release, "main", "show()@25")
    program.event(.release, "main", "show()@25", "Holder.deinit")
    let report = try #require(try program.report())
    #expect(report.openSites.count == 1)
    #expect(
      report.sites.contains {
        $0.operation == .object && $0.place.function?.line == 17 && $0.givenUpAt[0].place.function?.line == 25
      })
  }

  @Test func retainAndReleaseOfOneLineArePaired() throws {
    var program = Program()
    program.event(.object, "main", "f()@1")
    program.event(.retain, "main", "f()@2")
    program.event(.retain, "main", "f()@3")
    program.event(.release, "main", "f()@2")
    program.event(.release, "main", "f()@9")
    #expect(try program.open() == ["f()@3 ×1"])
  }

  @Test func callerReleasesARetainOfItsCallee() throws {
    var program = Program()
    program.event(.object, "main", "factory()@1")
    program.event(.retain, "main", "other()@4")
    program.event(.retain, "main", "user()@7", "Store.node.getter@30")
    program.event(.release, "main", "user()@8")
    program.event(.release, "main", "factory()@2")
    #expect(try program.open() == ["other()@4 ×1"])
  }

  /// A thread's function that releases by a tail call has no frame any more.
  @Test func systemFunctionReleasesARetainOfTheFunctionThatItCalled() throws {
    var program = Program()
    program.event(.object, "main", "start()@1")
    program.event(.retain, "main", "start()@2")
    program.event(.retain, "start_thread", "closure #1 in start()@5", thread: 2)
    program.event(.release, "start_thread", thread: 2)
    program.event(.release, "main", "start()@2")
    #expect(try program.open() == ["start()@1 ×1"])
  }

  @Test func deinitReleasesAReferenceStoredByAnotherMethodOfItsType() throws {
    var program = Program()
    program.event(.object, "main", "f()@1")
    program.event(.release, "main", "f()@2")
    program.event(.retain, "main", "Cache.insert(_:)@10")
    program.event(.retain, "main", "closure #1 in Holder.open()@20")
    program.event(.release, "main", "g()@3", "Holder.deinit")
    #expect(try program.open() == ["Cache.insert(_:)@10 ×1"])
  }

  @Test func twoActivationsOfAFunctionAreTwoScopes() throws {
    var program = Program()
    program.event(.object, "main", "f()@1")
    program.event(.retain, "main@1", "visit()@5")
    program.event(.retain, "main@2", "visit()@5")
    program.event(.release, "main@1", "visit()@6")
    program.event(.release, "main", "f()@2")
    #expect(try #require(try program.report()?.object).rows.map(\.rest) == [0, 0, 1, 0, 0])
  }

  @Test func countsArePairedInParts() throws {
    var program = Program()
    program.event(.object, "main", "f()@1")
    program.event(.retainN, "main", "f()@2", count: 5)
    program.event(.releaseN, "main", "f()@3", count: 3)
    program.event(.release, "main", "f()@4")
    #expect(try program.open() == ["f()@2 ×2"])
  }

  @Test func unmatchedReleaseMakesTheHistoryIncomplete() throws {
    var program = Program()
    program.event(.object, "main", "f()@1")
    program.event(.release, "main", "f()@2")
    program.event(.release, "main", "f()@3")
    let report = try #require(try program.report())
    #expect(report.unmatchedReleases.map(\.count) == [1])
    #expect(report.gaps.contains(.unmatchedReleases(1)) && report.gaps.contains { $0.isIncomplete })
  }

  @Test func loadsOfWeakAndUnownedReferencesRetainAndUnownedRetainsDoNot() throws {
    var program = Program()
    program.event(.object, "main", "f()@1")
    for operation in [
      TraceReading.Operation.weakLoadStrong, .weakTakeStrong, .unownedRetainStrong, .unownedRetainStrongAndRelease,
      .tryRetain, .nonatomicRetain,
    ] {
      program.event(operation, "main", "f()@2")
    }
    program.event(.unownedRetain, "main", "f()@3")
    program.event(.unownedRelease, "main", "f()@4")
    let report = try #require(try program.report())
    #expect(report.object?.rows.map(\.strong) == [1, 2, 3, 4, 5, 6, 7, 7, 7])
    #expect(report.gaps.contains(.nonatomic))
  }

  @Test func lastBlockAtAnAddressIsUsed() throws {
    var program = Program()
    program.event(.object, "main", "first()@1")
    program.event(.release, "main", "first()@2")
    program.event(.free, "main", "first()@2")
    program.event(.object, "main", "second()@1")
    program.event(.release, "main", "second()@2")
    program.event(.free, "main", "second()@2")
    let report = try #require(try program.report(.address(RuntimeAddress(Program.object + 40))))
    #expect(report.object?.isFreed == true && report.object?.rows.count == 3)
    #expect(report.sites.map { $0.place.function?.function } == ["second()"])
    #expect(report.openSites.isEmpty && !report.gaps.contains { $0.isIncomplete })
    #expect(try program.report(.address(RuntimeAddress(0x9000))) == nil)
  }

  @Test func freeWithoutAReleaseBalancesOnlyTheLastReference() throws {
    var program = Program()
    program.event(.object, "main", "f()@1")
    program.event(.free, "main", "f()@2")
    let freed = try #require(try program.report())
    #expect(freed.object?.rows.map(\.partners) == [[2], [1]] && freed.openSites.isEmpty && freed.gaps.isEmpty)
    program.event(.object, "main", "f()@1")
    program.event(.retain, "main", "f()@1")
    program.event(.free, "main", "f()@2")
    let unbalanced = try #require(try program.report())
    #expect(unbalanced.openSites.reduce(0) { $0 + $1.rest } == 2 && unbalanced.gaps == [.freedUnbalanced(objects: 1)])
  }

  @Test func objectsOfATypeAreSummedByPlace() throws {
    var program = Program()
    for index in 0..<5 as Range<UInt64> {
      let address = 0x10000 + index * 0x100
      program.event(.object, "main", "make()@1", at: address)
      program.event(.retain, "main", "keep()@9", at: address)
      program.event(.release, "main", "make()@2", at: address)
      if index < 2 { program.event(.release, "main", "drop()@3", at: address) }
      if index == 0 { program.event(.free, "main", "drop()@3", at: address) }
    }
    let report = try #require(try program.report(.type(NamePattern("Node"))))
    #expect(report.objects == 5 && report.object == nil)
    let keep = try #require(report.openSites.first)
    #expect(report.openSites.count == 1 && keep.place.function?.function == "keep()")
    #expect(keep.taken == 5 && keep.givenUp == 2 && keep.rest == 3 && keep.objects == 5 && keep.openObjects == 3)
    #expect(keep.givenUpAt.map(\.count) == [2])
    #expect(try program.report(.site(NamePattern("make")))?.objects == 5)
    #expect(try program.report(.site(NamePattern("keep"))) == nil)
    #expect(try program.report(.type(NamePattern("Edge"))) == nil)
  }

  @Test(
    arguments: [
      ("Editor.open(_:)", "Editor"), ("closure #1 in Editor.open(_:)", "Editor"), ("static Editor.make()", "Editor"),
      ("Editor.text.setter", "Editor"),
      ("outlined destroy of Editor", "Editor"), ("Box<Some.Type>.deinit", "Box"),
      ("Outer.Inner.f(x: Int)", "Outer.Inner"), ("open(_:)", nil),
      ("specialized closure #1 in static A.b() throws -> C.D", "A"),
    ] as [(String, String?)])
  func typeOfAFunctionIsReadFromItsName(function: String, owner: String?) {
    #expect(RetainPlaces.owner(of: function) == owner)
  }

  /// Makes `count` activations that are not callers of each other.
  private static func unrelated(_ count: Int) -> ActivationTree {
    var activations = ActivationTree()
    for _ in 0..<count { activations.add(calledBy: nil) }
    return activations
  }

  @Test func distanceToACallerIsTheNumberOfCallsBetween() {
    var random = SeededRandom(seed: 12)
    var activations = ActivationTree()
    var callers: [Int?] = []
    for number in 0..<2000 {
      // The tree has deep chains with branches, and several roots.
      let caller =
        number == 0 || Int.random(in: 0..<200, using: &random) == 0
        ? nil : Int.random(in: max(0, number - 3)..<number, using: &random)
      #expect(activations.add(calledBy: caller) == number)
      callers.append(caller)
    }
    func expected(_ inner: Int, _ outer: Int) -> Int? {
      var (present, steps) = (inner, 0)
      while present != outer {
        guard let caller = callers[present] else { return nil }
        (present, steps) = (caller, steps + 1)
      }
      return steps
    }
    for _ in 0..<2000 {
      let (a, b) = (Int.random(in: 0..<2000, using: &random), Int.random(in: 0..<2000, using: &random))
      #expect(activations.distance(a, b) == expected(a, b) ?? expected(b, a))
    }
  }

  @Test func eventsBeyondTheFileSizeLimitAreSkippedAndReported() throws {
    var program = Program()
    for round in 0..<3 {
      program.event(.object, "main", "f()@1")
      for _ in 0..<10 { program.event(.retain, "main", "f()@2") }
      // If a block's history equals the history of an earlier block, its events are not counted again.
      if round < 2 { program.event(.free, "main", "f()@3") }
    }
    for _ in 0..<100 { program.event(.retain, "main", "f()@2") }
    var limits = ReadingLimits(fileSize: 0)
    limits.historyEvents = 60
    let reader = try TraceReader(bytes: try program.trace.bytes(), limits: limits)
    let analysis = HistoryAnalysis(reader, AllocationAnalysis(reader), snapshot: nil, naming: program.naming)
    let report = try #require(analysis.report(.type(NamePattern("Node"))))
    #expect(report.objects == 3)
    // 12 of the read events belong to the first shape, and 48 to the last.
    #expect(report.gaps.contains(.tooManyEvents(111 - 48)) && report.gaps.contains { $0.isIncomplete })
    #expect(report.sites.reduce(0) { $0 + $1.taken } == 2 * 11 + 48)
  }

  @Test func framesSharedByManyStacksAreNamedOnce() throws {
    var trace = TraceBuilder()
    trace.definitions = [.process(ProcessRecord(executable: "/bin/app", flags: 1))]
    trace.image("/bin/app", 0x40_0000..<0x80_0000)
    let type = trace.type("App.Node")
    let depth = 600
    var calls: [UInt64] = []
    for call in 0..<UInt64(depth) {
      calls.append(0x40_0000 + call * 16)
      trace.event(
        call == 0 ? .object : .retain, Program.object, size: 48, type: call == 0 ? type : 0, stack: trace.stack(calls),
        time: 1000 + call * 8)
    }
    let reader = try trace.reader()
    for functions in ["f()", "Node.init()"] {
      let naming = CountingNaming(function: functions)
      let analysis = HistoryAnalysis(reader, AllocationAnalysis(reader), snapshot: nil, naming: naming)
      for query in [RetainQuery.type(NamePattern("Node")), .site(NamePattern("Node")), .site(NamePattern("f("))] {
        let before = naming.count
        _ = analysis.report(query)
        #expect(naming.count - before < 10 * depth)
      }
      #expect(naming.count > depth)
    }
  }

  @Test func pairingManyUnmatchedReleasesIsFast() {
    let places = [
      RetainPlace(scope: 0, line: 1, function: 1, owner: nil),
      RetainPlace(scope: nil, line: 0, function: 2, owner: nil),
    ]
    let activations = Self.unrelated(1)
    let count = 50_000
    // One activation retains and releases `count` times. In between, a place without an owner releases `count` times.
    let steps =
      (0..<count).map { RetainPairing.Step(place: 0, change: 1, isAllocation: $0 == 0) }
      + (0..<count).map { _ in RetainPairing.Step(place: 1, change: -1) }
      + (0..<count).map { _ in RetainPairing.Step(place: 0, change: -1) }
    let pairing = RetainPairing(steps, places: places, activations: activations)
    #expect(pairing.left.prefix(2 * count).allSatisfy { $0 == 0 } && pairing.left.suffix(count).allSatisfy { $0 == 1 })
    #expect(pairing.links.count == count)
  }

  @Test func manyObjectsArePairedByTheirOwnPlaces() {
    let places = (0..<100_000).map { RetainPlace(scope: $0, line: 1, function: $0, owner: nil) }
    let activations = Self.unrelated(100_000)
    var spare = 1000
    for object in 0..<20_000 {
      let steps = [
        RetainPairing.Step(place: object, change: 1, isAllocation: true),
        RetainPairing.Step(place: object + 1, change: 1), RetainPairing.Step(place: object + 2, change: -1),
      ]
      #expect(RetainPairing(steps, places: places, activations: activations, spareComparisons: &spare).links.count == 1)
    }
    // Rule 4 was not applied after the spare comparisons were used up.
    #expect((0..<1000).contains(spare))
  }

  @Test func referencesArePairedOnceAndNeverBeforeTheirRetain() {
    var random = SeededRandom(seed: 4711)
    // One activation calls the three others.
    var activations = ActivationTree()
    activations.add(calledBy: nil)
    for _ in 0..<3 { activations.add(calledBy: 0) }
    for _ in 0..<300 {
      let places = (0..<6).map { index in
        RetainPlace(
          scope: Bool.random(using: &random) ? index % 3 + 1 : nil, line: Int.random(in: 0..<3, using: &random),
          function: index % 4,
          owner: index % 2 == 0 ? 1 : nil)
      }
      let steps = (0..<Int.random(in: 1..<40, using: &random)).map { index in
        RetainPairing.Step(
          place: Int.random(in: 0..<6, using: &random),
          change: index == 0 ? 1 : Int64.random(in: -3...3, using: &random), isAllocation: index == 0)
      }
      let pairing = RetainPairing(steps, places: places, activations: activations)
      var used = [Int64](repeating: 0, count: steps.count)
      for link in pairing.links {
        #expect(link.taken < link.givenUp && link.count > 0)
        #expect(steps[link.taken].change > 0 && steps[link.givenUp].change < 0)
        used[link.taken] += link.count
        used[link.givenUp] += link.count
      }
      for index in steps.indices { #expect(used[index] + pairing.left[index] == abs(steps[index].change)) }
      // Releases are left over only where more references were released than retained.
      var open: Int64 = 0
      var shortage: Int64 = 0
      for step in steps {
        open += step.change
        if open < 0 {
          shortage -= open
          open = 0
        }
      }
      let unmatched = steps.indices.filter { steps[$0].change < 0 }.reduce(Int64(0)) { $0 + pairing.left[$1] }
      #expect(unmatched == shortage)
    }
  }
}

/// Gives every function the same name, and counts its calls.
private final class CountingNaming: FrameNaming {
  private let function: String
  private(set) var count = 0
  var remarks: [String] { [] }

  init(function: String) { self.function = function }

  func frames(for key: FrameKey, in image: LoadedImage?) -> [SourceFrame] {
    count += 1
    return [
      SourceFrame(
        function: function, fullFunction: function, mangledName: "m\(key.address.rawValue)", imagePath: "/bin/app",
        file: nil, line: nil, column: nil, isInlined: false,
        kind: .user, isAsync: false, asyncPart: nil)
    ]
  }
}

@Suite struct RetainBalanceTests {
  private func report(count: UInt64, retains: Int, after: Bool = false) throws -> HistoryReport {
    let heap = HeapBuilder()
    heap.trace.definitions.append(.process(ProcessRecord(executable: "/bin/app", flags: 1)))
    heap.type("App.Node")
    let node = heap.object("App.Node", count: count)
    for _ in 0..<retains { heap.trace.event(.retain, node.address, stack: heap.trace.stack([0x1000_2000]), time: 1008) }
    if after { heap.trace.event(.retain, node.address, stack: heap.trace.stack([0x1000_2000]), time: 9000) }
    let reader = try heap.reader()
    let snapshot = reader.snapshots[0]
    let analysis = HistoryAnalysis(
      reader, AllocationAnalysis(reader, snapshot: snapshot), snapshot: snapshot, naming: FunctionTable([:]))
    return try #require(analysis.report(.type(NamePattern("Node"))))
  }

  @Test func balanceIsComparedWithTheCountInMemory() throws {
    let equal = try report(count: 3 | 2 << 33, retains: 2)
    #expect(equal.counts == CountComparison(equal: 1, different: 0, unknown: 0))
    #expect(equal.count?.strong == 3 && !equal.gaps.contains { $0.isIncomplete })
    let different = try report(count: 3 | 3 << 33, retains: 2)
    #expect(different.counts.different == 1 && different.gaps.contains(.different(objects: 1)))
    #expect(try report(count: 0xFFFF_FFFF, retains: 2).gaps.contains(.immortal))
  }

  @Test func eventsAfterTheImageAreIgnored() throws {
    let report = try report(count: 3 | 2 << 33, retains: 2, after: true)
    #expect(report.object?.rows.count == 3 && report.counts.equal == 1)
  }

  @Test func balancesFollowABlockToItsEnd() throws {
    var trace = TraceBuilder()
    let type = trace.type("App.Node")
    trace.event(.object, 0x10, size: 32, type: type, time: 8)
    trace.event(.retainN, 0x10, size: 4, time: 16)
    trace.event(.unownedRetainStrongAndRelease, 0x10, time: 24)
    trace.event(.unownedRetain, 0x10, time: 32)
    trace.event(.object, 0x90, size: 32, type: type, time: 40)
    trace.event(.release, 0x90, time: 48)
    trace.event(.free, 0x90, time: 56)
    trace.event(.malloc, 0x200, size: 8, time: 64)
    let reader = try trace.reader()
    var replayer = Replayer(RetainBalances(), process: ProcessRecord(), stacks: reader.definitions.stacks)
    reader.replay(into: &replayer, stacks: .none)
    let balances = replayer.observer
    #expect(balances[RuntimeAddress(0x10)]?.strong == 6 && balances[RuntimeAddress(0x10)]?.unowned == 1)
    #expect(balances[RuntimeAddress(0x90)] == nil && balances[RuntimeAddress(0x200)] == nil)
  }
}
