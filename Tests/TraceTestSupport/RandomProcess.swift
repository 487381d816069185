// Random processes with all kinds of records: heaps with images, histories, families of siblings, tasks, scopes,
// expectations and pauses.

@testable import HeapAnalysis
@testable import TraceReading
@testable import TraceSymbolication

/// Makes traces with a valid structure and arbitrary contents. The same seed always makes the same trace.
package struct RandomProcess {
  private let heap = HeapBuilder()
  private var random: SeededRandom
  private var objects: [HeapBuilder.Object] = []
  private var freed: [UInt64] = []
  private var openScopes: [UInt64] = []
  private var marks: UInt64 = 0
  private var snapshots: [(snapshot: TraceSnapshot, words: [(address: UInt64, value: UInt64)])] = []
  private let types: [String]
  private let stacks: [[UInt64]]

  private static let names: [UInt64: String] = [
    0x1000_1010: "main()", 0x1000_1100: "system _dispatch_client_callout", 0x1000_1200: "Server.serve()",
    0x1000_1300: "Server.handle(_:)",
    0x1000_1400: "closure #1 in Type1.start()", 0x1000_1500: "Type2.init()",
    0x1000_1600: "system Foundation.Timer.init()",
    0x1000_1700: "partial apply forwarder for closure #1 in Type1.start()", 0x1000_1800: "system malloc",
  ]

  package static var naming: any FrameNaming { FunctionTable(names) }

  /// Returns a function that opens a random trace, and the layouts of its types.
  package static func open(seed: UInt64) throws -> (reader: () throws -> TraceReader, layouts: any LayoutSource) {
    var process = RandomProcess(seed: seed)
    process.run()
    let bytes = try process.bytes()
    return ({ try TraceReader(bytes: bytes) }, process.heap.layoutSource)
  }

  private init(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let kinds: [TraceType.Kind] = [.class, .class, .class, .closureContext, .box, .error, .other(9)]
    let strengths: [ReferenceStrength] = [.strong, .strong, .strong, .weak, .unowned, .unmanaged]
    var types: [String] = []
    let special = [
      "Foundation.Timer", "Foundation.NSNotificationReceiver", "Dispatch.DispatchWorkItem",
      "Swift._ContiguousArrayStorage<App.Type1>", "Swift.__StringStorage",
    ]
    for index in 0..<8 {
      let name = index < 5 ? "App.Type\(index)" : special[Int(random.next() % UInt64(special.count))]
      if types.contains(name) { continue }
      let fields: [ReferenceField]? =
        random.oneIn(5)
        ? nil
        : (0..<Int(random.next() % 4)).map { field in
          HeapBuilder.field(
            "field\(field)", field, strengths[Int(random.next() % 6)],
            kind: random.oneIn(5) ? .closure(functionOffset: 16 + 8 * field) : .object,
            type: random.oneIn(3) ? "App.Type1" : "", caseName: random.oneIn(6) ? "case\(field)" : nil)
        }
      heap.type(name, kind: index < 5 ? kinds[Int(random.next() % 7)] : .class, fields: fields)
      types.append(name)
    }
    self.types = types
    let functions = Self.names.keys.sorted()
    stacks = (0..<12).map { _ in
      (0..<1 + Int(random.next() % 5)).map { _ in functions[Int(random.next() % UInt64(functions.count))] }
    }
    self.random = random
  }

  private mutating func pick<Element>(_ elements: [Element]) -> Element? {
    elements.isEmpty ? nil : elements[Int(random.next() % UInt64(elements.count))]
  }

  private mutating func stack() -> [UInt64] { pick(stacks) ?? [] }
  private mutating func thread() -> UInt32 { UInt32(1 + random.next() % 3) }

  /// Returns an address that is invalid, or extreme.
  private mutating func oddAddress() -> UInt64 {
    switch random.next() % 8 {
    case 0: 0
    case 1: .max
    case 2: .max - random.next() % 8192
    case 3: random.next()
    case 4: random.next() % 4096
    case 5: pick(freed) ?? 8
    default: (pick(objects)?.address ?? 0) &+ random.next() % 128
    }
  }

  // MARK: Events

  private mutating func run() {
    let steps = 40 + Int(random.next() % 200)
    for _ in 0..<steps {
      heap.time += random.oneIn(6) ? random.next() % 100_000 : random.next() % 64
      step()
    }
    if random.oneIn(40) { heap.time = (1 << 63) + random.next() % (1 << 62) }
    take(random.oneIn(4) ? .signal : .exit)
  }

  private mutating func step() {
    switch random.next() % 32 {
    case 0..<10: allocate()
    case 10..<14: free()
    case 14..<17: if let object = pick(objects) { heap.retain(object, stack: stack()) }
    case 17: family()
    case 18: odd()
    case 19, 20, 21: mark()
    case 22: if random.oneIn(3) { pause() }
    case 23: if random.oneIn(4), snapshots.count < 2 { take([.request, .call, .expectation][Int(random.next() % 3)]) }
    case 24: task()
    case 25: collection()
    default: connect()
    }
  }

  private mutating func allocate() {
    let object =
      random.oneIn(4)
      ? heap.malloc(random.oneIn(10) ? random.next() : random.next() % 300, stack: stack())
      : heap.object(
        pick(types) ?? "App.Type0", size: [16, 24, 48, 96, 4096][Int(random.next() % 5)], stack: stack(),
        count: count(), thread: thread())
    objects.append(object)
    if random.oneIn(12) { _ = heap.sideTable(of: object) }
  }

  private mutating func count() -> UInt64 {
    switch random.next() % 12 {
    case 0: 1 << 32 | 3
    case 1: .max
    case 2: 3 << 62 | random.next() >> 8
    case 3: random.next()
    default: random.next() % 4 << 33 | 3
    }
  }

  private mutating func free() {
    guard !objects.isEmpty else { return }
    let object = objects.remove(at: Int(random.next() % UInt64(objects.count)))
    freed.append(object.address)
    heap.free(object, stack: stack(), thread: thread())
    if random.oneIn(2) { heap.overwriteAsFreed(object) }
  }

  /// Makes objects of one type in several functions, and keeps some of them in a collection.
  private mutating func family() {
    let registry = heap.malloc(8192, stack: stack())
    heap.global(registry)
    let type = pick(types) ?? "App.Type0"
    let (first, second) = (stack(), stack())
    let every = 1 + random.next() % 12
    for index in 0..<20 + random.next() % 60 {
      heap.visit(Array(first.dropLast()))
      let object = heap.object(
        type, stack: random.oneIn(9) ? second + [0x1000_2000 + index * 16] : first,
        thread: random.oneIn(20) ? thread() : 1)
      heap.time += random.next() % 5000
      if index % every == 0 {
        heap.words[registry.address + 8 * (index % 1000)] = object.address
        objects.append(object)
      } else {
        heap.free(object, stack: first)
      }
    }
    if random.oneIn(3) { for object in objects.suffix(8) { heap.retain(object) } }
  }

  /// Adds an event that contradicts the others.
  private mutating func odd() {
    let operations: [TraceReading.Operation] = [
      .malloc, .object, .realloc, .free, .reallocFree, .reallocFailed, .retain, .release, .retainN, .unownedRelease,
    ]
    heap.time += 8
    heap.trace.event(
      pick(operations) ?? .free, oddAddress(), size: random.oneIn(3) ? random.next() : random.next() % 1000,
      type: UInt32(random.next() % 12),
      stack: heap.trace.stack(stack()), time: heap.time, thread: thread(), task: random.oneIn(4) ? oddAddress() : 0)
  }

  private mutating func mark() {
    heap.time += 8
    let kind: TraceMark.Kind = [.scopeBegin, .scopeEnd, .scopeEnd, .generation, .expectation, .expectation][
      Int(random.next() % 6)]
    var mark = TraceMark(kind, time: heap.time)
    marks += 1
    mark.number = marks
    if kind == .scopeBegin { openScopes.append(marks) }
    if kind == .scopeEnd {
      mark.number = openScopes.popLast() ?? random.next()
      mark.grace = random.oneIn(3) ? random.next() : random.next() % 1000
    } else {
      mark.name = heap.trace.marks.intern(random.oneIn(2) ? "order" : "screen")
      mark.file = heap.trace.marks.intern("App/Shop.swift")
      mark.line = UInt32(truncatingIfNeeded: random.oneIn(9) ? random.next() : random.next() % 4)
    }
    if kind == .expectation {
      mark.address = random.oneIn(4) ? oddAddress() : pick(objects)?.address ?? 0
      mark.deadline = random.oneIn(4) ? random.next() : heap.time + random.next() % 2000
    }
    heap.trace.mark(mark, thread: thread())
  }

  private mutating func pause() {
    let unseen = pick(objects)
    let isEnded = !random.oneIn(5)
    heap.pause { if let unseen { heap.overwriteAsFreed(unseen) } }
    if !isEnded { heap.trace.definitions.removeLast() }
  }

  private mutating func task() {
    let task = heap.malloc(512, stack: stack())
    heap.words[task.address] = HeapBuilder.taskMetadata
    heap.words[task.address + 8] = count()
    if random.oneIn(2) {
      let slab = heap.malloc(1024)
      heap.words[slab.address] = HeapBuilder.slabMetadata
      heap.words[slab.address + 128] = task.address
      heap.words[task.address + 72] = slab.address
    }
    for _ in 0..<3 {
      heap.time += 8
      heap.trace.event(
        .malloc, oddAddress(), size: 32, stack: heap.trace.stack(stack()), time: heap.time, thread: thread(),
        task: task.address + 200)
    }
    objects.append(task)
  }

  /// Makes the storage of an array or a dictionary. Its header may claim anything.
  private mutating func collection() {
    let name = "Swift._DictionaryStorage<App.Type0, App.Type1>"
    if heap.isDeclared(name) == false {
      heap.type(name, fields: [])
      let value = ValueLayout(
        typeName: "", size: 8, stride: 8, alignment: 8,
        references: [
          ReferenceField(offset: 0, name: "", caseName: nil, strength: .strong, kind: .object, typeName: "")
        ],
        opaque: [])
      let tail: ObjectTail =
        random.oneIn(2)
        ? .array(start: 32, countOffset: 16, element: value)
        : .hashTable(scaleOffset: 32, bitmapOffset: 64, keysOffset: 48, key: value, valuesOffset: 56, value: value)
      heap.layout(of: name, ObjectLayout(typeName: name, size: 32, references: [], opaque: [], tail: tail))
    }
    let storage = heap.object(name, size: 512, stack: stack())
    for offset in stride(from: 16, to: 160, by: 8) as StrideTo<UInt64> {
      heap.words[storage.address + offset] =
        random.oneIn(3) ? random.next() % 64 : random.oneIn(3) ? random.next() : oddAddress()
    }
    objects.append(storage)
  }

  private mutating func connect() {
    guard let from = pick(objects), let to = pick(objects) else { return }
    switch random.next() % 8 {
    case 0: heap.global(to, offset: random.next() % 64)
    case 1: heap.words[from.address + 16 + 8 * (random.next() % 6)] = oddAddress() & ~7
    default: heap.set(from, Int(random.next() % 5), to, offset: random.oneIn(6) ? random.next() % 64 : 0)
    }
  }

  // MARK: The trace

  private mutating func take(_ reason: SnapshotReason) {
    heap.time += 16
    var regions = heap.regions
    var threads: [SnapshotThread] = []
    for index in 0..<random.next() % 4 {
      let start = 0x7000_0000_0000 + index << 24
      regions.append(MemoryRegion(range: start..<start + 0x10000, kind: random.oneIn(3) ? .mainStack : .anonymous))
      threads.append(
        SnapshotThread(
          osThread: UInt32(index), stackPointer: random.oneIn(4) ? nil : start + random.next() % 0x11000,
          threadPointer: random.oneIn(5) ? oddAddress() : start + 0xF000,
          instructionPointer: 0x1000_1010, registers: (0..<4).map { _ in oddAddress() }, isSelf: index == 0))
      if let object = pick(objects) { heap.words[start + 0x8100] = object.address }
    }
    if random.oneIn(3) { regions.append(MemoryRegion(range: 0x6000_0000_0000..<0x6000_0400_0000, kind: .anonymous)) }
    if random.oneIn(3) { regions.append(MemoryRegion(range: 0x4000_0000_0000..<0x4000_0001_0000, kind: .programBreak)) }
    let number = UInt32(snapshots.count + 1)
    let end: TraceSnapshot.End? = random.oneIn(8) ? nil : .init(error: random.oneIn(8) ? 12 : 0)
    snapshots.append(
      (
        TraceSnapshot(
          number: number, reason: reason, time: heap.time, isFrozen: !random.oneIn(5),
          staticTLSSize: random.oneIn(9) ? random.next() : 256, threads: threads,
          regions: regions.sorted { $0.range.lowerBound < $1.range.lowerBound },
          label: reason == .expectation ? "expectation 1: screen" : "", end: end),
        heap.words.map { (address: $0.key & ~7, value: $0.value) }.filter { $0.address < 1 << 63 }
      ))
  }

  /// Marks the process as attached, and adds lists of blocks to its images. Some blocks are at addresses of words in
  /// memory, and some are invalid.
  private mutating func listBlocks(_ trace: inout TraceBuilder) {
    trace.definitions.append(.process(ProcessRecord(executable: "/bin/app", flags: 1 << 3)))
    for one in snapshots {
      var blocks = one.words.filter { _ in random.oneIn(4) }.map { word in
        ListedBlock(
          address: word.address, size: random.oneIn(50) ? random.next() : 8 + random.next() % 56 & ~7,
          type: random.oneIn(3) ? UInt32(random.next() % 12) : 0)
      }
      if random.oneIn(5) { blocks.append(ListedBlock(address: oddAddress(), size: random.next(), type: .max)) }
      blocks.sort { $0.address < $1.address }
      // The lists of a real recorder have no overlapping blocks.
      if !random.oneIn(6) {
        var end: UInt64 = 0
        blocks.removeAll { block in
          if block.address < end || block.address == 0 { return true }
          end = block.address.addingReportingOverflow(max(1, block.size)).partialValue
          return false
        }
      }
      var part = TraceBuilder.BlockPart(blocks, time: one.snapshot.time)
      part.snapshot = one.snapshot.number
      part.isLast = !random.oneIn(6)
      trace.blockParts.append(part)
    }
  }

  private mutating func bytes() throws -> [UInt8] {
    var trace = heap.trace
    if random.oneIn(8) { trace.header.ticksPerSecond = 0 }
    if random.oneIn(6) {
      trace.definitions.append(.process(ProcessRecord(executable: "/bin/app", flags: random.next())))
    }
    if random.oneIn(3) { listBlocks(&trace) }
    if random.oneIn(3) { trace.eventsPerChunk = 1 + Int(random.next() % 50) }
    var closing = TraceClosing(time: random.oneIn(6) ? random.next() : heap.time + 800)
    for index in closing.drops.counts.indices where random.oneIn(16) {
      closing.drops.counts[index] = random.oneIn(3) ? random.next() : 1
    }
    trace.closing = random.oneIn(5) ? nil : closing
    // If an address has several words, only the first is kept.
    trace.snapshots = snapshots.map { one in
      (
        one.snapshot,
        Dictionary(one.words.map { ($0.address, $0.value) }) { first, _ in first }.map {
          (address: $0.key, value: $0.value)
        }
      )
    }
    return try trace.bytes()
  }
}
