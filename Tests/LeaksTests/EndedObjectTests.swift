// Objects that have ended, in small heaps made by hand: how they ended, and who used them later.

import Testing
import TextWriting
import TraceTestSupport

@testable import LeakGates
@testable import TraceReading
@testable import TraceReports
@testable import Wording

@Suite struct EndedObjectTests {
  private typealias Heap = HeapBuilder

  private let functions: [UInt64: String] = [
    0x1000_1010: "open()", 0x1000_1020: "close()", 0x1000_1030: "fire()", 0x1000_1040: "Form.__deallocating_deinit",
    0x1000_1050: "system swift_release",
  ]
  /// A time in ticks that is longer than the disagreement between a machine's clocks.
  private let long: UInt64 = 5_000_000

  /// Makes a form that ends at 10,000 ticks.
  private func endedForm(_ heap: HeapBuilder) -> HeapBuilder.Object {
    heap.type("App.Form", fields: [])
    let form = heap.object("App.Form", stack: [0x1000_1001, 0x1000_1010])
    heap.trace.event(.release, form.address, stack: heap.trace.stack([0x1000_1001, 0x1000_1020]), time: 9_000)
    heap.trace.event(
      .free, form.address, stack: heap.trace.stack([0x1000_1001, 0x1000_1020, 0x1000_1050, 0x1000_1040, 0x1000_1050]),
      time: 10_000)
    heap.time = 10_000
    return form
  }

  private func use(
    _ heap: HeapBuilder, _ address: UInt64, _ operation: TraceReading.Operation = .retain, time: UInt64,
    thread: UInt32 = 1
  ) {
    heap.trace.event(
      operation, address, stack: heap.trace.stack([0x1000_1001, 0x1000_1030]), time: time, thread: thread)
  }

  @Test func retainAfterTheFreeIsAUseWithThreeStacks() throws {
    let heap = HeapBuilder()
    let form = endedForm(heap)
    use(heap, form.address, time: 20_000)
    use(heap, form.address, .release, time: 21_000)
    let findings = try heap.findings(functions)
    #expect(findings.count == 1)
    let finding = try #require(findings.first)
    #expect(finding.verdict == .dangling)
    #expect(finding.path.map(\.type) == ["Form"])
    #expect(finding.instances == 1)
    let ending = try #require(finding.evidence.ending)
    #expect(ending.qualifiedType == "App.Form")
    #expect(ending.uses == 2)
    #expect(ending.allocated.frame?.function == "open()")
    #expect(ending.freed.frame?.function == "close()")
    #expect(ending.used?.frame?.function == "fire()")
    #expect(ending.used?.operation == "swift_retain")
    #expect(ending.used?.seconds == 20e-6)
    #expect(
      ending.freed.frames.map(\.function) == [
        "swift_release", "Form.__deallocating_deinit", "swift_release", "close()", "main()",
      ])
    #expect(
      finding.advice.map(AdviceWords.sentence).contains { $0.contains("App.swift:48") && $0.contains("App.swift:32") })
  }

  @Test func usesOfObjectsWithEqualLivesAreOneFinding() throws {
    let heap = HeapBuilder()
    heap.type("App.Form", fields: [])
    let forms = (0..<3).map { _ in heap.object("App.Form") }
    for form in forms { heap.free(form) }
    for (index, form) in forms.enumerated() { use(heap, form.address, time: 20_000 + UInt64(index) * 8) }
    let findings = try heap.findings(functions)
    #expect(findings.map(\.instances) == [3])
  }

  @Test(arguments: [(200_000, 0), (900_000, 0), (5_000_000, 1)] as [(UInt64, Int)])
  func useOnAnotherThreadCountsOnlyIfCertainlyLater(delay: UInt64, count: Int) throws {
    let heap = HeapBuilder()
    let form = endedForm(heap)
    use(heap, form.address, time: 10_000 + delay, thread: 2)
    #expect(try heap.findings(functions).count == count)
  }

  @Test func retainBeforeTheFreeIsNotAUseAfterFree() throws {
    let heap = HeapBuilder()
    let form = endedForm(heap)
    use(heap, form.address, time: 9_500, thread: 2)
    #expect(try heap.findings(functions).isEmpty)
  }

  @Test func newObjectAtTheAddressIsNotTheEndedObject() throws {
    let heap = HeapBuilder()
    let form = endedForm(heap)
    let type = heap.trace.type("App.Other")
    heap.trace.event(.object, form.address, size: 48, type: type, stack: heap.trace.stack([0x1000_1001]), time: 11_000)
    use(heap, form.address, time: 20_000)
    heap.trace.event(.release, form.address, time: 30_000)
    heap.trace.event(.free, form.address, time: 31_000)
    #expect(try heap.findings(functions).isEmpty)
    // The report gives the end of the new object, not the end of the old one.
    use(heap, form.address, time: 40_000)
    let findings = try heap.findings(functions)
    #expect(findings.map { $0.evidence.ending?.type } == ["Other"])
  }

  @Test func objectInsideAnotherBlockIsNotTheEndedObject() throws {
    let heap = HeapBuilder()
    let form = endedForm(heap)
    // The block is a task's memory: the compiler places objects in it that do not escape.
    heap.trace.event(.malloc, form.address - 512, size: 1024, stack: heap.trace.stack([0x1000_1001]), time: 11_000)
    use(heap, form.address, time: 20_000)
    heap.trace.event(.free, form.address - 512, time: 30_000)
    let findings = try heap.findings(functions)
    #expect(findings.isEmpty)
    // The last freed block began at another address, so its contents at this address are unknown.
    use(heap, form.address, time: 40_000)
    #expect(try heap.findings(functions).isEmpty)
  }

  @Test func staticObjectsAndFreedCBlocksAreNotUsedAfterFree() throws {
    let heap = HeapBuilder()
    _ = endedForm(heap)
    let block = heap.malloc(64)
    heap.free(block)
    use(heap, HeapBuilder.image.lowerBound + 0x9000, time: 20_000)
    use(heap, block.address, time: 22_000)
    #expect(try heap.findings(functions).isEmpty)
  }

  @Test func blockThatMayBeUnmappedIsNotTracked() throws {
    let heap = HeapBuilder()
    heap.type("App.Large", fields: [])
    for (size, time) in [(200_000, 10_000), (100_000, 20_000)] as [(UInt64, UInt64)] {
      let large = heap.object("App.Large", size: size)
      heap.trace.event(.free, large.address, time: time)
      use(heap, large.address, time: time + 8)
      heap.time = time + 8
      if size > 128 << 10 {
        #expect(try heap.findings(functions).isEmpty)
      } else {
        #expect(try heap.findings(functions).count == 1)
      }
    }
  }

  @Test func missingEventsSuppressUseAfterFreeAndAddARemark() throws {
    let dropped = HeapBuilder()
    var form = endedForm(dropped)
    use(dropped, form.address, time: 20_000)
    var closing = TraceClosing(reason: .exit, time: 1 << 30)
    closing.drops.counts[0] = 1
    dropped.trace.closing = closing
    let paused = HeapBuilder()
    form = endedForm(paused)
    use(paused, form.address, time: 20_000)
    paused.trace.definitions.append(.pause(PauseRecord(begins: true, time: 12_000)))
    paused.trace.definitions.append(.pause(PauseRecord(begins: false, time: 13_000)))
    for (heap, reason) in [(dropped, "events are missing"), (paused, "recording was paused at times")] {
      let analysis = try heap.analysis(functions)
      #expect(analysis.findings().isEmpty)
      #expect(
        analysis.remarks.contains {
          $0.contains("an object seems to have been used after the end") && $0.contains(reason)
        })
    }
  }

  /// Makes a button whose delegate, a form, has ended. Returns the form.
  private func danglingButton(_ heap: HeapBuilder) -> HeapBuilder.Object {
    heap.type("App.Button", fields: [Heap.field("delegate", 0, .unmanaged)])
    let button = heap.object("App.Button")
    heap.global(button)
    let form = endedForm(heap)
    heap.set(button, 0, form)
    // This block follows the form, so that the form lies between blocks.
    heap.global(heap.malloc(16))
    return form
  }

  @Test func danglingReferenceReportsTheEndOfItsTarget() throws {
    let heap = HeapBuilder()
    _ = danglingButton(heap)
    let finding = try #require(try heap.findings(functions).first)
    #expect(finding.path.map(\.reference?.name) == ["delegate"])
    #expect(finding.evidence.ending?.type == "Form")
    #expect(finding.evidence.ending?.freed.frame?.function == "close()")
    #expect(finding.evidence.ending?.used == nil)
    #expect(finding.evidence.ending?.uses == 0)
  }

  @Test func reuseAfterTheSnapshotDoesNotHideTheEnd() throws {
    let heap = HeapBuilder()
    let form = danglingButton(heap)
    let type = heap.trace.type("App.Other")
    heap.trace.event(.object, form.address, size: 48, type: type, stack: heap.trace.stack([0x1000_1001]), time: long)
    heap.trace.event(.free, form.address, time: long + 8)
    #expect(try heap.findings(functions).map { $0.evidence.ending?.type } == ["Form"])
  }

  /// Makes `count` fields whose delegates, screens, have ended. `next`: the type of the objects that get the screens'
  /// memory afterwards.
  private func fieldsOfEndedScreens(_ heap: HeapBuilder, _ count: Int, next: String) throws -> [HeapBuilder.Object] {
    // The type of the field is a private class, as reflection names it.
    heap.type(
      "App.Field",
      fields: [Heap.field("delegate", 0, .unmanaged, type: "App.(Screen in _0123456789ABCDEF0123456789ABCDEF)")])
    heap.type("App.Screen", fields: [])
    let type = heap.trace.type(next, superclass: next == "App.Detail" ? heap.typeID(of: "App.Screen") : 0)
    return (0..<count).map { _ in
      let field = heap.object("App.Field")
      heap.global(field)
      let screen = heap.object("App.Screen", stack: [0x1000_1001, 0x1000_1010])
      heap.set(field, 0, screen)
      heap.free(screen, stack: [0x1000_1001, 0x1000_1020])
      heap.time += 8
      heap.trace.event(
        .object, screen.address, size: 48, type: type, stack: heap.trace.stack([0x1000_1001]), time: heap.time)
      heap.global(heap.malloc(16))
      return screen
    }
  }

  @Test func danglingReferenceIsNamedByItsFieldsTypeNotByALaterTenant() throws {
    let heap = HeapBuilder()
    for screen in try fieldsOfEndedScreens(heap, 2, next: "App.Later") { heap.free(screen) }
    let findings = try heap.findings(functions)
    #expect(findings.map { $0.evidence.ending?.type } == ["Screen"])
    #expect(findings.map { $0.evidence.ending?.freed.frame?.function } == ["close()"])
    #expect(findings.map(\.instances) == [2])
  }

  @Test func referenceDanglesEvenIfAnotherClassReusesTheMemory() throws {
    let heap = HeapBuilder()
    _ = try fieldsOfEndedScreens(heap, 3, next: "App.Later")
    let findings = try heap.findings(functions)
    #expect(findings.map(\.verdict) == [.dangling])
    #expect(findings.map { $0.evidence.ending?.type } == ["Screen"])
    #expect(findings.map(\.instances) == [3])
  }

  @Test(arguments: ["App.Screen", "App.Detail"]) func objectOfTheFieldsClassOrASubclassIsTheTarget(
    next: String
  ) throws {
    let heap = HeapBuilder()
    _ = try fieldsOfEndedScreens(heap, 3, next: next)
    #expect(try heap.findings(functions).isEmpty)
  }

  @Test func objectThatEndedBeforeTheHolderExistedIsNotTheTarget() throws {
    let heap = HeapBuilder()
    heap.type("App.Field", fields: [Heap.field("delegate", 0, .unmanaged, type: "App.Screen")])
    heap.type("App.Screen", fields: [])
    heap.type("App.Later", fields: [])
    let screen = heap.object("App.Screen")
    heap.free(screen)
    heap.time += 8
    heap.trace.event(
      .object, screen.address, size: 48, type: heap.typeID(of: "App.Later"), stack: heap.trace.stack([0x1000_1001]),
      time: heap.time)
    let field = heap.object("App.Field")
    heap.global(field)
    heap.set(field, 0, screen)
    #expect(try heap.findings(functions).isEmpty)
  }

  @Test func danglingReferenceNamesTheFieldsTypeEvenIfTheTraceLacksTheEnd() throws {
    let heap = HeapBuilder()
    heap.type("App.Field", fields: [Heap.field("delegate", 0, .unmanaged, type: "App.Screen")])
    heap.type("App.Screen", fields: [])
    let field = heap.object("App.Field")
    heap.global(field)
    heap.global(heap.object("App.Screen"))
    heap.words[field.address + 16] = field.address + 0x8000
    let finding = try #require(try heap.findings(functions).first)
    #expect(finding.evidence.ending == nil)
    #expect(finding.path.last?.reference?.referentType == "Screen")
  }

  @Test func useOfADanglingTargetJoinsTheDanglingFinding() throws {
    let heap = HeapBuilder()
    let form = danglingButton(heap)
    use(heap, form.address, time: long)
    let findings = try heap.findings(functions)
    #expect(findings.count == 1)
    #expect(findings.first?.path.map(\.type) == ["Button"])
    #expect(findings.first?.evidence.ending?.used?.frame?.function == "fire()")
    #expect(findings.first?.advice.map(AdviceWords.sentence).contains { $0.contains("clear Button.delegate") } == true)
  }

  @Test func endIsShownInLinesAndInFullStacks() throws {
    let heap = HeapBuilder()
    let form = endedForm(heap)
    use(heap, form.address, time: 20_000)
    use(heap, form.address, .release, time: 21_000)
    let report = LeakReport(try heap.analysis(functions))
    func text(_ stacks: TextStyle.Stacks) -> String {
      var lines = TextLines(style: TextStyle(width: 100, stacks: stacks))
      FindingText(style: lines.style).write(report, to: &lines)
      return lines.text
    }
    #expect(
      text(.folded).contains(
        """
        USED AFTER ITS END  Form                                                                  1 instance
          allocated in open()  App.swift:16                                                    after 0.000 s
          freed     in close()  App.swift:32                                                   after 0.000 s
          used      in fire()  App.swift:48                 swift_retain, the first of 2 uses, after 0.000 s
          Fix: Something at App.swift:48
        """))
    #expect(text(.full).contains("      Form.__deallocating_deinit  /src/App.swift:64\n"))
  }

  @Test func endIsWrittenToTheJSONReport() throws {
    let heap = HeapBuilder()
    let form = endedForm(heap)
    use(heap, form.address, time: 20_000)
    let json = JSONValue.object(FindingJSON.fields(LeakReport(try heap.analysis(functions)))).text
    for part in [
      "\"allocatedAt\": {", "\"freedAt\": {", "\"usedAt\": {", "\"endedType\": \"App.Form\"", "\"uses\": 1",
      "\"function\": \"fire()\"",
    ] {
      #expect(json.contains(part))
    }
  }
}
