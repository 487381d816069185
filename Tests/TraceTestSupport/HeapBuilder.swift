// Builds the heap of a process for tests, object by object: a trace with a heap image, and layouts for the types.

@testable import HeapAnalysis
@testable import LeakDetection
@testable import TraceReading
@testable import TraceSymbolication

/// Builds a heap. Objects begin 64 KiB apart by default. The roots are words in the data of one image.
package final class HeapBuilder {
  package struct Object: Hashable, Sendable {
    package let address: UInt64
    package let size: UInt64
  }

  package var trace = TraceBuilder()
  package var words: [UInt64: UInt64] = [:]
  package var threads: [SnapshotThread] = []
  package var regions: [MemoryRegion] = []
  /// The end of the heap image; nil if the image was not completed.
  package var snapshotEnd: TraceSnapshot.End? = .init()
  package var hasReferenceTags = true
  private var layouts: [UInt64: ObjectLayout] = [:]
  /// Addresses of variables and functions that the concurrency runtime exports.
  package var variables: [String: UInt64] = [:]
  /// Makes the concurrency runtime lay out tasks as Swift 6.3.1 does.
  package func layOutTasksAsKnown() {
    variables[TaskLayout.versionVariable] = 0x1000_9000
    variables[TaskLayout.sizeVariable] = 0x1000_9008
    words[0x1000_9000] = 1
    words[0x1000_9008] = 208
  }

  /// The layouts of values in the buffer of an `any P`, by metadata.
  package var bufferedValues: [UInt64: BufferedValue] = [:]
  private var metadata: [String: (id: UInt32, address: UInt64)] = [:]
  private var nextAddress: UInt64 = 0x5000_0000_0000
  private var nextRoot: UInt64 = 0x1000_8000
  /// The time of the last event made by the builder, in ticks. The snapshot comes after it.
  package var time: UInt64 = 1000

  /// The program's image, with its data at 0x10008000.
  package static let image: Range<UInt64> = 0x1000_0000..<0x1010_0000

  package init() {
    trace.image("/bin/app", Self.image)
    regions.append(MemoryRegion(range: 0x1000_8000..<0x1010_0000, kind: .file))
    regions.append(MemoryRegion(range: 0x4FFF_FFFF_F000..<0x5100_0000_0000, kind: .programBreak))
  }

  /// Declares a class, or another kind of counted object, with named fields at offsets 16, 24, ….
  package func type(
    _ name: String, kind: TraceType.Kind = .class, fields: [ReferenceField]? = [],
    enumerations: [EnumerationLayout] = []
  ) {
    let id = trace.type(name, kind: kind)
    let address = UInt64(id) << 12
    metadata[name] = (id, address)
    if let fields {
      layouts[address] = ObjectLayout(
        typeName: name, size: 16 + 8 * (fields.map { $0.offset / 8 - 1 }.max() ?? 0),
        references: fields.sorted { $0.offset < $1.offset }, opaque: [],
        enumerations: enumerations, tail: .unknown)
    }
  }

  /// Returns the number in the trace of a declared type.
  package func typeID(of name: String) -> UInt32 { metadata[name]!.id }

  package func isDeclared(_ name: String) -> Bool { metadata[name] != nil }

  /// The layouts of the declared types.
  package var layoutSource: any LayoutSource { Layouts(layouts, variables, words, bufferedValues) }

  /// Gives a declared type another layout.
  package func layout(of name: String, _ layout: ObjectLayout) { layouts[metadata[name]!.address] = layout }

  package static func field(
    _ name: String, _ index: Int, _ strength: ReferenceStrength = .strong, kind: ReferenceField.Kind = .object,
    type: String = "", caseName: String? = nil,
    payloads: [PayloadCase] = []
  ) -> ReferenceField {
    ReferenceField(
      offset: 16 + 8 * index, name: name, caseName: caseName, strength: strength, kind: kind, typeName: type,
      payloads: payloads,
      isAlwaysSet: !payloads.isEmpty && strength == .strong)
  }

  /// Returns a reference, which is never nil, in the payload of a case of the layout's enumeration number
  /// `enumeration`.
  package static func payload(
    _ name: String, _ index: Int, _ strength: ReferenceStrength = .strong, kind: ReferenceField.Kind = .object,
    type: String = "App.Item", case caseIndex: Int,
    of enumeration: Int = 0
  ) -> ReferenceField {
    field(
      name, index, strength, kind: kind, type: type, caseName: "case\(caseIndex)",
      payloads: [PayloadCase(enumeration: enumeration, index: caseIndex)])
  }

  /// Allocates an object. `stack`: return addresses, outermost first. `count`: the second word.
  package func object(
    _ type: String, size: UInt64 = 48, stack: [UInt64] = [0x1000_1000], count: UInt64 = 3, thread: UInt32 = 1
  ) -> Object {
    let known = metadata[type]!
    let object = allocate(.object, size: size, type: known.id, stack: stack, thread: thread)
    words[object.address] = known.address
    words[object.address + 8] = count
    return object
  }

  package func malloc(_ size: UInt64, stack: [UInt64] = [0x1000_1000]) -> Object {
    allocate(.malloc, size: size, type: 0, stack: stack)
  }

  /// Allocates a block at a chosen address.
  @discardableResult
  package func block(_ operation: TraceReading.Operation, at address: UInt64, size: UInt64) -> Object {
    time += 8
    trace.event(operation, address, size: size, stack: trace.stack([0x1000_1000]), time: time)
    return Object(address: address, size: size)
  }

  private func allocate(
    _ operation: TraceReading.Operation, size: UInt64, type: UInt32, stack: [UInt64], thread: UInt32 = 1
  ) -> Object {
    let object = Object(address: nextAddress, size: size)
    nextAddress += 0x10000
    time += 8
    trace.event(
      operation, object.address, size: size, type: type, stack: trace.stack(stack), time: time, thread: thread)
    return object
  }

  package func free(_ object: Object, stack: [UInt64] = [], thread: UInt32 = 1) {
    time += 8
    trace.event(.free, object.address, stack: trace.stack(stack), time: time, thread: thread)
  }

  /// Shows that control is in the innermost function of a stack, by a block that is freed immediately.
  package func visit(_ stack: [UInt64], thread: UInt32 = 1) {
    free(allocate(.malloc, size: 16, type: 0, stack: stack, thread: thread), stack: stack, thread: thread)
  }

  /// Shows that the program uses an object.
  package func retain(_ object: Object, stack: [UInt64] = [0x1000_1000]) {
    time += 8
    trace.event(.retain, object.address, stack: trace.stack(stack), time: time)
  }

  package func release(_ object: Object, stack: [UInt64] = [0x1000_1000]) {
    time += 8
    trace.event(.release, object.address, stack: trace.stack(stack), time: time)
  }

  /// Pauses the recording: the trace does not contain the allocations and frees of `body`.
  package func pause(_ body: () -> Void = {}) {
    time += 8
    trace.definitions.append(.pause(PauseRecord(begins: true, time: time)))
    let recorded = trace
    body()
    time += 8
    trace = recorded
    trace.definitions.append(.pause(PauseRecord(begins: false, time: time)))
    time += 8
  }

  /// Writes the words of a freed block into an object's memory, as the C library's allocator does: a link and a key.
  package func overwriteAsFreed(_ object: Object) {
    words[object.address] = object.address >> 12
    words[object.address + 8] = nil
  }

  /// Stores a reference in field `index` of `from`, at offset 16 + 8 · index. In a block from malloc, the index may be
  /// negative, for the words before that offset.
  package func set(_ from: Object, _ index: Int, _ to: Object, offset: UInt64 = 0) {
    words[from.address &+ UInt64(bitPattern: Int64(16 + 8 * index))] = to.address + offset
  }

  /// Makes a global variable that holds `object`. Returns the variable's address.
  @discardableResult
  package func global(_ object: Object, offset: UInt64 = 0) -> UInt64 {
    words[nextRoot] = object.address + offset
    nextRoot += 8
    return nextRoot - 8
  }

  /// Gives `object` a side table, and returns it.
  package func sideTable(of object: Object) -> Object {
    let table = allocate(.posixMemalign, size: 32, type: 0, stack: [0x1000_1000])
    words[object.address + 8] = 3 << 62 | table.address >> 3
    words[table.address] = object.address
    words[table.address + 16] = 3
    return table
  }

  /// Ends a round of repeated work with an image of the current heap. `mark`: the program's own mark; nil if the round
  /// is marked from outside.
  package func endRound(_ mark: TraceMark? = nil, isWhole: Bool = true) {
    let number = UInt32(rounds.count + 1)
    time += 8
    let label = mark.map { trace.marks.text($0.name) } ?? ""
    let snapshot = TraceSnapshot(
      number: number, reason: .round, time: time, hasReferenceTags: hasReferenceTags, staticTLSSize: 256,
      threads: threads, regions: regions.sorted { $0.range.lowerBound < $1.range.lowerBound },
      label: label, end: isWhole ? TraceSnapshot.End() : nil)
    rounds.append((snapshot, words.map { (address: $0.key, value: $0.value) }))
    time += 8
    if var mark {
      (mark.time, mark.snapshot) = (time, number)
      trace.mark(mark)
    }
  }

  private var rounds: [(snapshot: TraceSnapshot, words: [(address: UInt64, value: UInt64)])] = []

  package func reader() throws -> TraceReader { try finishedTrace().reader() }

  /// Returns the bytes of the trace's file.
  package func bytes() throws -> [UInt8] { try finishedTrace().bytes() }

  private func finishedTrace() -> TraceBuilder {
    var trace = trace
    let snapshot = TraceSnapshot(
      number: UInt32(rounds.count + 1), time: time + 8, hasReferenceTags: hasReferenceTags, staticTLSSize: 256,
      threads: threads,
      regions: regions.sorted { $0.range.lowerBound < $1.range.lowerBound }, end: snapshotEnd)
    trace.snapshots = rounds + [(snapshot, words.map { (address: $0.key, value: $0.value) })]
    return trace
  }

  /// Returns the leaks. `functions`: names of functions by address.
  package func analysis(_ functions: [UInt64: String] = [:]) throws -> LeakAnalysis {
    try analysis(naming: FunctionTable(functions))
  }

  package func analysis(naming: any FrameNaming, ownModules: Set<String> = []) throws -> LeakAnalysis {
    let reader = try reader()
    let snapshot = reader.snapshots[reader.snapshots.count - 1]
    return LeakAnalysis(
      reader, AllocationAnalysis(reader, snapshot: snapshot), snapshot: snapshot, naming: naming,
      layouts: Layouts(layouts, variables, words, bufferedValues), ownModules: ownModules)
  }

  package func findings(_ functions: [UInt64: String] = [:]) throws -> [Finding] {
    try analysis(functions).findings()
  }

  /// Returns the growth with each round. `functions`: names of functions by address. `births`: the only objects to
  /// count, by address with the time of birth; nil for all.
  package func growth(
    _ functions: [UInt64: String] = [:], repetition: UInt64? = nil, among births: [UInt64: UInt64]? = nil
  ) throws -> GrowthReport {
    let reader = try reader()
    let analysis = AllocationAnalysis(reader, snapshot: reader.snapshots[reader.snapshots.count - 1])
    return LeakAnalysis.growth(reader, analysis, repetition: repetition, among: births) {
      [layouts, variables, words, bufferedValues] snapshot, allocations in
      LeakAnalysis(
        reader, allocations, snapshot: snapshot, naming: FunctionTable(functions),
        layouts: Layouts(layouts, variables, words, bufferedValues))
    }
  }

  private final class Layouts: LayoutSource {
    private let layouts: [UInt64: ObjectLayout]
    private let variables: [String: UInt64]
    private let words: [UInt64: UInt64]
    private let bufferedValues: [UInt64: BufferedValue]
    init(
      _ layouts: [UInt64: ObjectLayout], _ variables: [String: UInt64], _ words: [UInt64: UInt64],
      _ bufferedValues: [UInt64: BufferedValue]
    ) {
      (self.layouts, self.variables, self.words, self.bufferedValues) = (layouts, variables, words, bufferedValues)
    }
    func bufferedValue(ofTypeWithMetadata address: UInt64) -> BufferedValue? { bufferedValues[address] }
    func word(at address: UInt64) -> UInt64? { words[address] }
    func addresses(ofConcurrencyVariable name: String) -> [UInt64] { variables[name].map { [$0] } ?? [] }
    func hasConcurrency(function name: String) -> Bool { variables[name] != nil }
    func layout(ofInstanceAt address: RuntimeAddress, metadata: RuntimeAddress) -> ObjectLayout? {
      layouts[metadata.rawValue]
    }
    func dependsOnInstance(_ metadata: RuntimeAddress) -> Bool { false }
    func metadataKind(at address: UInt64) -> UInt64? {
      address == HeapBuilder.taskMetadata
        ? 0x502 : address == HeapBuilder.slabMetadata || address == HeapBuilder.slabMetadata + 8 ? 0 : nil
    }
    var problem: String? { nil }
  }

  /// The first word of a task.
  package static let taskMetadata: UInt64 = 0x1000_F000
  /// The first word of a slab, which is further memory of a task.
  package static let slabMetadata: UInt64 = 0x1000_E000
}

/// Names addresses from a table. Other addresses are in `main()` of the program.
package struct FunctionTable: FrameNaming {
  private let functions: [UInt64: String]
  package init(_ functions: [UInt64: String]) { self.functions = functions }
  package var remarks: [String] { [] }

  package func frames(for key: FrameKey, in image: LoadedImage?) -> [SourceFrame] {
    let name = functions[key.address.rawValue] ?? "main()"
    let isSystem = name.hasPrefix("system ")
    let function = isSystem ? String(name.dropFirst(7)) : name
    return [
      SourceFrame(
        function: function, fullFunction: function, mangledName: function,
        imagePath: isSystem ? "/lib/libFoundation.so" : "/bin/app",
        file: isSystem ? nil : "/src/App.swift", line: isSystem ? nil : Int(key.address.rawValue & 0xFFF), column: nil,
        isInlined: false,
        kind: isSystem ? .systemLibrary : .user, isAsync: false, asyncPart: nil)
    ]
  }
}
