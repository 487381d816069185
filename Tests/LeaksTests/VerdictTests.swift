// Verdicts on small heaps made by hand.

import CTraceFormat
import Testing
import TraceTestSupport

@testable import HeapAnalysis
@testable import LeakDetection
@testable import TraceReading
@testable import Wording

@Suite struct VerdictTests {
  private typealias Heap = HeapBuilder

  /// Makes `count` screens. Each holds a model, whose closure holds the screen.
  private func screens(_ heap: HeapBuilder, count: Int) -> [HeapBuilder.Object] {
    heap.type("App.Screen", fields: [Heap.field("model", 0, type: "App.Model")])
    heap.type("App.Model", fields: [Heap.field("notify", 1, kind: .closure(functionOffset: 16))])
    heap.type("", kind: .closureContext, fields: [Heap.field("", 0)])
    return (0..<count).map { _ in
      let screen = heap.object("App.Screen", stack: [0x1000_1001, 0x1000_1010])
      let model = heap.object("App.Model", stack: [0x1000_1001, 0x1000_1020])
      let closure = heap.object("", stack: [0x1000_1001, 0x1000_1030])
      heap.set(screen, 0, model)
      heap.set(model, 1, closure)
      heap.words[model.address + 16] = 0x1000_2005
      heap.set(closure, 0, screen)
      return screen
    }
  }

  private let functions: [UInt64: String] = [
    0x1000_1010: "present()", 0x1000_1020: "Screen.init()", 0x1000_1030: "Screen.load()",
    0x1000_2005: "closure #1 in Screen.load()",
  ]

  @Test func cycleThroughAClosureIsOneFindingWithNamesAndCounts() throws {
    let heap = HeapBuilder()
    _ = screens(heap, count: 3)
    let findings = try heap.findings(functions)
    #expect(findings.count == 1)
    let finding = try #require(findings.first)
    #expect(finding.verdict == .retainCycle)
    #expect(finding.instances == 3)
    #expect(finding.retainedBytes.rawValue == 3 * 3 * 48)
    #expect(finding.path.map(\.type) == ["Screen", "Model", "closure"])
    #expect(finding.path.map(\.reference?.name) == ["model", "notify", "self"])
    #expect(finding.path.map(\.reference?.strength) == [.strong, .strong, .strong])
    #expect(finding.path[2].function?.function == "closure #1 in Screen.load()")
    #expect(finding.path[0].allocation?.function == "present()")
    #expect(
      finding.advice.map(AdviceWords.sentence).contains {
        $0.contains("Capture self weakly in the closure at App.swift:5") && $0.contains("Model.notify")
      })
  }

  @Test func cycleReachableFromAGlobalIsNotReported() throws {
    let heap = HeapBuilder()
    let screens = screens(heap, count: 2)
    for screen in screens { heap.global(screen) }
    let findings = try heap.findings(functions)
    #expect(findings.isEmpty)
  }

  @Test func differentSitesAreDifferentFindings() throws {
    let heap = HeapBuilder()
    heap.type("App.Node", fields: [Heap.field("other", 0)])
    for (site, count) in [(0x1000_1010 as UInt64, 2), (0x1000_1020, 5)] {
      for _ in 0..<count {
        let a = heap.object("App.Node", stack: [site])
        let b = heap.object("App.Node", stack: [site])
        heap.set(a, 0, b)
        heap.set(b, 0, a)
      }
    }
    let findings = try heap.findings([0x1000_1010: "first()", 0x1000_1020: "second()"])
    #expect(findings.map(\.instances).sorted() == [2, 5])
    #expect(Set(findings.map(\.fingerprint)).count == 2)
  }

  @Test func weakReferenceDoesNotHoldAndItsSideTableIsNotReported() throws {
    let heap = HeapBuilder()
    heap.type("App.Owner", fields: [Heap.field("child", 0)])
    heap.type("App.Child", fields: [Heap.field("owner", 0, .weak)])
    let owner = heap.object("App.Owner")
    let child = heap.object("App.Child")
    let table = heap.sideTable(of: owner)
    heap.set(owner, 0, child)
    heap.words[child.address + 16] = table.address
    heap.global(owner)
    // This is the same pair again, but nothing except its own weak reference leads to it.
    let lost = heap.object("App.Owner")
    let lostTable = heap.sideTable(of: lost)
    let keeper = heap.object("App.Child")
    heap.words[keeper.address + 16] = lostTable.address
    heap.global(keeper)
    let findings = try heap.findings()
    #expect(findings.count == 1)
    #expect(findings.first?.verdict == .lost)
    #expect(findings.first?.path.map(\.type) == ["Owner"])
    #expect(findings.first?.evidence.referenceCount?.strong == 1)
  }

  @Test func weakReferenceFromAUsedObjectIsNamed() throws {
    let heap = HeapBuilder()
    heap.type("App.Owner", fields: [Heap.field("child", 0)])
    heap.type("App.Child", fields: [Heap.field("owner", 0)])
    heap.type("App.Registry", fields: [Heap.field("last", 0, .weak)])
    let (owner, child, registry) = (heap.object("App.Owner"), heap.object("App.Child"), heap.object("App.Registry"))
    heap.set(owner, 0, child)
    heap.set(child, 0, owner)
    heap.words[registry.address + 16] = heap.sideTable(of: owner).address
    #expect(try heap.findings().first { $0.verdict == .retainCycle }?.evidence.way == nil)
    heap.global(registry)
    let finding = try #require(try heap.findings().first)
    #expect(finding.verdict == .retainCycle && finding.certainty == .proven)
    #expect(finding.evidence.way == .init(kind: .weak, holder: "Registry.last"))
  }

  @Test func objectBehindANumberIsNotProvenLost() throws {
    let heap = HeapBuilder()
    heap.type("App.State", fields: [Heap.field("next", 0)])
    heap.type("Swift._ContiguousArrayStorage<Swift.UInt>")
    let word = ValueLayout(typeName: "", size: 8, stride: 8, alignment: 8, references: [], opaque: [])
    heap.layout(
      of: "Swift._ContiguousArrayStorage<Swift.UInt>",
      ObjectLayout(
        typeName: "", size: 32, references: [], opaque: [], tail: .array(start: 32, countOffset: 16, element: word)))
    let states = (0..<4).map { _ in heap.object("App.State") }
    let array = heap.object("Swift._ContiguousArrayStorage<Swift.UInt>", size: 48)
    heap.words[array.address + 16] = 1
    // The number refers to the first state, which keeps the second. Nothing refers to the other states.
    heap.set(array, 2, states[0])
    heap.set(states[0], 0, states[1])
    heap.set(states[2], 0, states[3])
    heap.global(array)
    let findings = try heap.findings().sorted { $0.evidence.isDoubtful && !$1.evidence.isDoubtful }
    try #require(findings.count == 2)
    #expect(findings.map(\.verdict) == [.lost, .lost] && findings.map(\.instances) == [1, 1])
    #expect(findings.map(\.certainty) == [.suspected, .proven] && !findings[0].isWeak)
    #expect(findings[0].evidence.way?.kind == .number && findings[1].evidence.way == nil)
    #expect(Set(findings.map(\.fingerprint)).count == 2)
  }

  /// The program loads a weak reference to an object. A number in that object refers to another object, which has a
  /// weak reference again.
  @Test func pathsToUnreachableObjectsMayHaveSeveralSteps() throws {
    let heap = HeapBuilder()
    heap.type("App.Registry", fields: [Heap.field("last", 0, .weak)])
    heap.type("App.Node", fields: [Heap.field("next", 0), Heap.field("last", 1, .weak)])
    heap.layout(
      of: "App.Node",
      ObjectLayout(
        typeName: "App.Node", size: 40, references: [Heap.field("next", 0), Heap.field("last", 1, .weak)], opaque: [],
        tail: .plain))
    let registry = heap.object("App.Registry", size: 24)
    let nodes = (0..<4).map { _ in heap.object("App.Node", size: 40) }
    // There are two cycles. Between them is an object that a number refers to.
    for node in [nodes[0], nodes[2], nodes[3]] { heap.set(node, 0, node) }
    heap.words[registry.address + 16] = heap.sideTable(of: nodes[0]).address
    heap.words[nodes[0].address + 32] = nodes[1].address | 1
    heap.words[nodes[1].address + 24] = heap.sideTable(of: nodes[2]).address
    heap.global(registry)
    let analysis = try heap.analysis()
    let ways = nodes.map { node in
      analysis.graph.heap.block(containing: node.address).flatMap { analysis.way(toLeaked: $0.rawValue) }
    }
    #expect(ways == [.reference, .number, .reference, nil])
    let findings = try heap.findings()
    #expect(findings.reduce(0) { $0 + $1.instances } == 4)
    #expect(findings.filter(\.evidence.isDoubtful).map(\.instances) == [1])
  }

  @Test func blockWithTheAddressOfAnEndingObjectLetsItFinish() throws {
    let heap = HeapBuilder()
    heap.type("App.Panel", fields: [Heap.field("title", 0)])
    heap.type("App.Title")
    let deiniting: UInt64 = 3 | 1 << 32
    let (panel, title, job) = (heap.object("App.Panel", count: deiniting), heap.object("App.Title"), heap.malloc(96))
    heap.set(panel, 0, title)
    heap.global(job)
    #expect(try heap.findings().map { $0.path.last?.type } == ["Title"])
    heap.words[job.address + 72] = panel.address
    #expect(try heap.findings().isEmpty)
  }

  @Test func treeWithParentReferencesIsOneFinding() throws {
    let heap = HeapBuilder()
    heap.type("App.Tree", fields: [Heap.field("parent", 0), Heap.field("left", 1), Heap.field("right", 2)])
    for depth in [4, 3] {
      let nodes = (0..<(1 << depth) - 1).map { _ in heap.object("App.Tree") }
      for index in nodes.indices.dropFirst() {
        let parent = (index - 1) / 2
        heap.set(nodes[index], 0, nodes[parent])
        heap.set(nodes[parent], index % 2 == 1 ? 1 : 2, nodes[index])
      }
    }
    let findings = try heap.findings()
    #expect(findings.count == 1)
    #expect(findings.first?.instances == 2)
    #expect(findings.first?.retainedBlocks == 22)
    #expect(findings.first?.path.map(\.type) == ["Tree", "Tree"])
  }

  @Test func objectsHeldByACycleCountWithIt() throws {
    let heap = HeapBuilder()
    let screen = screens(heap, count: 1)[0]
    heap.type("App.Item", fields: [Heap.field("next", 0)])
    var last = screen
    for index in 0..<5 {
      let item = heap.object("App.Item", size: 64)
      heap.set(last, index == 0 ? 1 : 0, item)
      if index == 0 { heap.words[screen.address + 16] = heap.words[screen.address + 16] }
      last = item
    }
    let findings = try heap.findings(functions)
    #expect(findings.count == 1)
    #expect(findings.first?.retainedBlocks == 8)
    #expect(findings.first?.held.types == [.init(name: "Item", count: 5, bytes: ByteCount(320))])
  }

  @Test func lostObjectBlockAndTaskAreReported() throws {
    let heap = HeapBuilder()
    heap.type("App.Session", fields: [])
    _ = heap.object("App.Session", count: 3 | 1 << 33)
    _ = heap.malloc(100, stack: [0x1000_1040])
    let task = heap.malloc(512, stack: [0x1000_1050])
    heap.words[task.address] = HeapBuilder.taskMetadata
    heap.words[task.address + 0x38] = 0x1000_3000
    let findings = try heap.findings([0x1000_1040: "copy()", 0x1000_1050: "start()", 0x1000_3000: "wait()"])
    #expect(Set(findings.map(\.verdict)) == [.lost, .suspended])
    #expect(findings.count == 3)
    let object = try #require(findings.first { $0.path[0].kind == .object })
    #expect(object.evidence.referenceCount?.strong == 2)
    let block = try #require(findings.first { $0.path[0].kind == .malloc })
    #expect(block.path[0].allocation?.function == "copy()")
    #expect(findings.first { $0.verdict == .suspended }?.path[0].function?.function == "wait()")
  }

  @Test func endlesslyWaitingTasksAreCountedOneByOneDespiteHandles() throws {
    let heap = HeapBuilder()
    let tasks = (0..<5).map { _ in
      let task = heap.malloc(512, stack: [0x1000_1050])
      heap.words[task.address] = HeapBuilder.taskMetadata
      heap.words[task.address + 0x38] = 0x1000_3000
      return task
    }
    // Each task has left this place in a queue, but the word still has the next task's address.
    for (task, next) in zip(tasks, tasks.dropFirst()) { heap.words[task.address + 16] = next.address }
    let findings = try heap.findings([0x1000_1050: "start()", 0x1000_3000: "wait()"])
    #expect(findings.map(\.verdict) == [.suspended] && findings.first?.instances == 5)
  }

  @Test func interiorPointersKeepBlocksButNotObjects() throws {
    let heap = HeapBuilder()
    heap.type("App.Session", fields: [])
    let block = heap.malloc(100)
    let holder = heap.malloc(100)
    let object = heap.object("App.Session", size: 64)
    heap.words[holder.address] = block.address + 40
    heap.words[holder.address + 8] = object.address + 40
    heap.global(holder, offset: 16)
    let findings = try heap.findings()
    #expect(findings.map(\.path[0].type) == ["Session"])
  }

  @Test func deinitializedObjectIsReportedWithItsHolder() throws {
    let heap = HeapBuilder()
    heap.type("App.Parent", fields: [Heap.field("secret", 0)])
    heap.type("App.Child", fields: [Heap.field("parent", 0, .unowned)])
    let parent = heap.object("App.Parent", count: 1 << 32 | 1 << 1 | 1)
    let child = heap.object("App.Child")
    let stale = heap.object("App.Child")
    heap.set(child, 0, parent)
    heap.set(parent, 0, stale)
    heap.global(child)
    heap.global(stale)
    let findings = try heap.findings()
    #expect(findings.count == 1)
    #expect(findings.first?.verdict == .deinitialised)
    #expect(findings.first?.path.map(\.type) == ["Child", "Parent"])
    #expect(findings.first?.path.first?.reference?.name == "parent")
  }

  @Test func wordThatPointsToADeinitializedObjectIsNotReported() throws {
    let heap = HeapBuilder()
    heap.type("App.Session", fields: [])
    let session = heap.object("App.Session", count: 1 << 32 | 1 << 1 | 1)
    // A block of C code, for example a queue's, still has the object's address. Nothing refers to the other object.
    let block = heap.malloc(64)
    heap.set(block, 0, session)
    heap.global(block)
    _ = heap.object("App.Session", count: 1 << 32 | 1 << 1 | 1)
    #expect(try heap.findings().isEmpty)
  }

  /// Makes a parent that holds a part. The parent's child has an unowned reference to the parent.
  private func endingParent(_ heap: HeapBuilder, unownedCount: UInt64) -> (
    parent: HeapBuilder.Object, part: HeapBuilder.Object
  ) {
    heap.type("App.Parent", fields: [Heap.field("part", 0)])
    heap.type("App.Part", fields: [])
    heap.type("App.Child", fields: [Heap.field("parent", 0, .unowned)])
    let parent = heap.object("App.Parent", count: 1 << 32 | unownedCount << 1 | 1)
    let part = heap.object("App.Part")
    let child = heap.object("App.Child")
    heap.set(child, 0, parent)
    heap.set(parent, 0, part)
    heap.global(child)
    return (parent, part)
  }

  @Test func objectInDeinitAndItsReferentsAreNotReported() throws {
    let heap = HeapBuilder()
    let parent = endingParent(heap, unownedCount: 2).parent
    let base: UInt64 = 0x7000_0000_0000
    heap.regions.append(MemoryRegion(range: base..<base + 0x10000, kind: .anonymous))
    heap.threads = [SnapshotThread(osThread: 1, stackPointer: base + 0x8000, threadPointer: base + 0xF000)]
    heap.words[base + 0x8100] = parent.address
    #expect(try heap.findings().isEmpty)
    // The parent is now on no stack, so something else must have the additional unowned reference.
    heap.words[base + 0x8100] = nil
    #expect(try Set(heap.findings().map(\.verdict)) == [.deinitialised, .lost])
  }

  @Test func objectKeptOnlyByUnownedReferencesIsReportedDespiteAStackWord() throws {
    let heap = HeapBuilder()
    let (parent, part) = endingParent(heap, unownedCount: 1)
    heap.global(part)
    let base: UInt64 = 0x7000_0000_0000
    heap.regions.append(MemoryRegion(range: base..<base + 0x10000, kind: .anonymous))
    heap.threads = [SnapshotThread(osThread: 1, stackPointer: base + 0x8000, threadPointer: base + 0xF000)]
    heap.words[base + 0x8100] = parent.address
    #expect(try heap.findings().map(\.verdict) == [.deinitialised])
  }

  @Test func unmanagedReferenceToFreedMemoryDangles() throws {
    let heap = HeapBuilder()
    heap.type("App.Button", fields: [Heap.field("delegate", 0, .unmanaged)])
    heap.type("App.Screen", fields: [])
    let button = heap.object("App.Button")
    let gone = heap.object("App.Screen")
    let other = heap.object("App.Screen")
    heap.set(button, 0, gone)
    heap.free(gone)
    heap.global(button)
    heap.global(other)
    let findings = try heap.findings()
    #expect(findings.count == 1)
    #expect(findings.first?.verdict == .dangling)
    #expect(findings.first?.path.first?.reference?.name == "delegate")
  }

  /// Without events, the class of the object that has the memory now decides.
  @Test(arguments: [
    // The arguments are the field's type, the object that is there, and whether it is reported.
    ("App.Screen", "App.Later", true), ("App.(Screen in _0123456789ABCDEF0123456789ABCDEF)", "App.Later", true),
    ("App.Screen", "App.Screen", false), ("App.Box<App.Screen>", "App.Later", false), ("", "App.Later", false),
    ("Foundation.NSObject", "App.Later", false),
  ]) func imageAloneShowsThatAnotherClassReusedTheMemory(field: String, tenant: String, isReported: Bool) throws {
    for isBeingMade in [false, true] {
      let heap = HeapBuilder()
      heap.trace.header.options |= UInt32(LT_OPTION_INSPECTED)
      heap.type("App.Button", fields: [Heap.field("delegate", 0, .unmanaged, type: field)])
      for name in ["App.Screen", "App.Later"] { heap.type(name, fields: []) }
      let button = heap.object("App.Button")
      let other = heap.object(tenant)
      heap.set(button, 0, other)
      heap.global(other)
      if isBeingMade {
        // A function has just allocated the object, and its fields have stale words.
        let base: UInt64 = 0x7000_0000_0000
        heap.regions.append(MemoryRegion(range: base..<base + 0x10000, kind: .anonymous))
        heap.threads = [SnapshotThread(osThread: 1, stackPointer: base + 0x8000, threadPointer: base + 0xF000)]
        heap.words[base + 0x8100] = button.address
      } else {
        heap.global(button)
      }
      let findings = try heap.findings()
      #expect(findings.map(\.verdict) == (isReported && !isBeingMade ? [.dangling] : []))
      if let finding = findings.first {
        #expect(finding.path[0].reference?.referentType == "Screen" && finding.path[0].reference?.tenantType == "Later")
      }
    }
  }

  @Test func stacksCountAboveTheStackPointerAndDeadStacksDoNot() throws {
    let heap = HeapBuilder()
    heap.type("App.Local", fields: [])
    let live = heap.object("App.Local")
    let popped = heap.object("App.Local", stack: [0x1000_1040])
    let inRegister = heap.object("App.Local")
    let inThreadLocal = heap.object("App.Local")
    let left = heap.object("App.Local", stack: [0x1000_1050])
    let base: UInt64 = 0x7000_0000_0000
    heap.regions.append(MemoryRegion(range: base..<base + 0x10000, kind: .anonymous))
    heap.threads = [
      SnapshotThread(
        osThread: 1, stackPointer: base + 0x8000, threadPointer: base + 0xF000, registers: [inRegister.address])
    ]
    heap.words[base + 0x8100] = live.address
    heap.words[base + 0x4000] = popped.address
    heap.words[base + 0xF000 - 64] = inThreadLocal.address
    // This is the memory of a thread that has ended. Its control block still points to itself.
    let dead: UInt64 = 0x7000_1000_0000
    heap.regions.append(MemoryRegion(range: dead..<dead + 0x10000, kind: .anonymous))
    heap.words[dead + 0xF000] = dead + 0xF000
    heap.words[dead + 0xF010] = dead + 0xF000
    heap.words[dead + 0x8000] = left.address
    let findings = try heap.findings([0x1000_1040: "popped()", 0x1000_1050: "left()"])
    #expect(Set(findings.compactMap { $0.path[0].allocation?.function }) == ["popped()", "left()"])
  }

  @Test func libraryLeaksAreListedSeparately() throws {
    let heap = HeapBuilder()
    heap.type("Foundation.Timer", fields: [])
    heap.type("Foundation.Cache", fields: [])
    _ = heap.object("Foundation.Timer", stack: [0x1000_1010])
    _ = heap.object("Foundation.Cache", stack: [0x1000_1010, 0x1000_1060])
    let findings = try heap.findings([0x1000_1010: "start()", 0x1000_1060: "system URLSession.prepare()"])
    #expect(findings.allSatisfy { $0.isLibrary })
    #expect(findings.count == 2)
    #expect(findings.contains { $0.owner.reason?.contains("URLSession.prepare()") == true })
  }

  @Test func enumPayloadIsNamedByTheMatchingCase() throws {
    let heap = HeapBuilder()
    heap.type(
      "App.Machine",
      fields: [
        Heap.field(
          "state", 0, type: "Swift.Task<(), Swift.Never>", caseName: "running",
          payloads: [PayloadCase(enumeration: 0, index: 0)]),
        Heap.field("state", 0, type: "App.Report", caseName: "done", payloads: [PayloadCase(enumeration: 0, index: 1)]),
      ], enumerations: [EnumerationLayout(name: "state", discriminator: .unknown)])
    heap.type("App.Report", fields: [Heap.field("machine", 0)])
    let machine = heap.object("App.Machine")
    let report = heap.object("App.Report")
    heap.set(machine, 0, report)
    heap.set(report, 0, machine)
    let findings = try heap.findings()
    #expect(findings.count == 1)
    #expect(findings.first?.path.first { $0.type == "Machine" }?.reference?.caseName == "done")
  }
}
