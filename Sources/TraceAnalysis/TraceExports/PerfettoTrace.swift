// Heap images for Perfetto's trace processor and its UI.

import HeapAnalysis
import TextWriting
import TraceReading

/// A trace in Perfetto's format with one heap graph. Blocks and roots are objects. Only owning references are included.
///
/// Source of the field numbers: github.com/google/perfetto, protos/perfetto/trace/trace_packet.proto and
/// profiling/heap_graph.proto.
package struct PerfettoTrace {
  /// A packet ends when its objects reach this many bytes. Perfetto reads packets of up to 256 MiB.
  private static let packetSize = 1 << 20

  /// Returns the file of a heap image's graph. The graph must come from `trace`. Blocks that no root keeps are children
  /// of an extra object, so that Perfetto's dominator tree includes them. Linear in blocks and references.
  package static func bytes(_ objects: ObjectGraph, _ trace: AllocationAnalysis) -> [UInt8] {
    bytes(objects, trace, packetSize: packetSize)
  }

  static func bytes(_ objects: ObjectGraph, _ trace: AllocationAnalysis, packetSize: Int) -> [UInt8] {
    var file = PerfettoTrace(objects, trace, packetSize: packetSize)
    return file.written()
  }

  /// The number of a file's only field.
  private static let packetField = 1
  /// All packets belong to the same sequence, because one sequence is one graph.
  private static let sequence: UInt64 = 1

  private enum PacketField {
    static let processTree = 2
    static let timestamp = 8
    static let sequence = 10
    static let heapGraph = 56
  }

  private enum GraphField {
    static let processID = 1
    static let objects = 2
    static let fieldNames = 4
    static let isContinued = 5
    static let index = 6
    static let roots = 7
    static let types = 9
  }

  /// Android's kinds of roots. Each root gets the closest kind.
  private enum RootType: UInt64, CaseIterable {
    case unknown = 0
    case nativeGlobal = 1
    case nativeStack = 4
    case threadBlock = 6
    case internalOfVirtualMachine = 13

    init(_ kind: HeapRoot.Kind) {
      switch kind {
      case .global: self = .nativeGlobal
      case .stack, .registers: self = .nativeStack
      case .threadLocal: self = .threadBlock
      case .mapping: self = .internalOfVirtualMachine
      case .unseen: self = .unknown
      }
    }
  }

  private let heap: ExportedHeap
  private let objects: ObjectGraph
  private let processID: UInt64
  private let program: String
  /// Nanoseconds from the start of the recording to the heap image; 0 if unknown.
  private let time: UInt64
  private let packetSize: Int
  private var file = ProtobufWriter()
  /// The packet that is being written.
  private var packet = ProtobufWriter()
  private var packetCount: UInt64 = 0
  private var types = NumberedNames()
  private var fields = NumberedNames()

  private init(_ objects: ObjectGraph, _ trace: AllocationAnalysis, packetSize: Int) {
    heap = ExportedHeap(objects, trace)
    self.objects = objects
    self.packetSize = packetSize
    // Perfetto's process IDs are signed 32-bit numbers.
    processID = UInt64(trace.header.processID & UInt32(Int32.max))
    program = PlainText.escaped(trace.definitions.process.executable)
    let nanoseconds = trace.clock.seconds(at: objects.snapshot.time).flatMap { Int64(exactly: ($0 * 1e9).rounded()) }
    time = UInt64(max(nanoseconds ?? 0, 0))
  }

  private mutating func written() -> [UInt8] {
    writeProcess()
    let typeNumbers = heap.typeNames.map { types[$0] }
    for node in 0..<NodeID(objects.graph.nodeCount) {
      if objects.isRoot(node) {
        writeObject(Self.number(of: node), type: types[heap.rootName(node)], size: 0, references(of: node))
      } else {
        writeObject(
          Self.number(of: node), type: typeNumbers[heap.type(of: node)], size: objects.heap[BlockID(node)].size,
          references(of: node))
      }
      if packet.bytes.count >= packetSize { endPacket(isContinued: true) }
    }
    writeUnkept()
    writeRoots()
    writeNames()
    endPacket(isContinued: false)
    return file.bytes
  }

  // MARK: Objects

  /// Returns an object's number in the file; 0 means no object.
  private static func number(of node: NodeID) -> UInt64 { UInt64(node) + 1 }
  /// The number of the extra object above unkept blocks. It follows all other numbers.
  private var unkeptNumber: UInt64 { UInt64(objects.graph.nodeCount) + 1 }

  private struct References {
    var fields: [UInt64] = []
    var targets: [UInt64] = []
  }

  private mutating func references(of node: NodeID) -> References {
    var references = References()
    let edges = objects.graph.edges(from: node)
    references.fields.reserveCapacity(edges.count)
    references.targets.reserveCapacity(edges.count)
    for edge in edges where heap.isOwning(edge) {
      references.fields.append(fields[fieldName(of: edge)])
      references.targets.append(Self.number(of: objects.graph.target(of: edge)))
    }
    return references
  }

  private func fieldName(of edge: EdgeIndex) -> String {
    if heap.strength(of: edge) == .bookkeeping { return "side table" }
    return heap.fieldName(of: edge) ?? "scanned word"
  }

  private mutating func writeObject(_ number: UInt64, type: UInt64, size: UInt64, _ references: References) {
    packet.message(GraphField.objects) {
      $0.field(1, number)
      $0.field(2, type)
      $0.field(3, size)
      $0.packed(4, references.fields)
      $0.packed(5, references.targets)
    }
  }

  private mutating func writeUnkept() {
    let field = heap.unkept.isEmpty ? 0 : fields["instance"]
    writeObject(
      unkeptNumber, type: types[ExportedHeap.unkeptName], size: 0,
      References(
        fields: heap.unkept.map { _ in field }, targets: heap.unkept.map { Self.number(of: $0) }))
  }

  // MARK: Roots and names

  private mutating func writeRoots() {
    var numbers: [RootType: [UInt64]] = [.unknown: [unkeptNumber]]
    for node in objects.rootNodes {
      numbers[RootType(objects.root(node).kind), default: []].append(Self.number(of: node))
    }
    for type in RootType.allCases {
      guard let ofType = numbers[type] else { continue }
      packet.message(GraphField.roots) {
        $0.packed(1, ofType)
        $0.field(2, type.rawValue)
      }
    }
  }

  private mutating func writeNames() {
    for (index, name) in types.all.enumerated() {
      packet.message(GraphField.types) {
        $0.field(1, UInt64(index + 1))
        $0.element(3, name)
      }
    }
    for (index, name) in fields.all.enumerated() {
      packet.message(GraphField.fieldNames) {
        $0.field(1, UInt64(index + 1))
        // Perfetto reads the text before the first space as the field's type.
        $0.element(2, name.contains(" ") ? " \(name)" : name)
      }
    }
  }

  // MARK: Packets

  /// Writes the packet with the program's name.
  private mutating func writeProcess() {
    file.message(Self.packetField) { packet in
      packet.field(PacketField.timestamp, time)
      packet.field(PacketField.sequence, Self.sequence)
      packet.message(PacketField.processTree) {
        $0.message(1) { process in
          process.field(1, processID)
          process.element(3, program)
        }
      }
    }
  }

  private mutating func endPacket(isContinued: Bool) {
    packet.field(GraphField.processID, processID)
    packet.field(GraphField.isContinued, isContinued)
    packet.field(GraphField.index, packetCount)
    file.message(Self.packetField) {
      $0.field(PacketField.timestamp, time)
      $0.field(PacketField.sequence, Self.sequence)
      $0.message(PacketField.heapGraph, packet)
    }
    packet = ProtobufWriter()
    packetCount += 1
  }

  /// Numbers names, starting at 1.
  private struct NumberedNames {
    private(set) var all: [String] = []
    private var numbers: [String: UInt64] = [:]

    subscript(name: String) -> UInt64 {
      mutating get {
        if let known = numbers[name] { return known }
        all.append(name)
        numbers[name] = UInt64(all.count)
        return UInt64(all.count)
      }
    }
  }
}
