// Finds the intended object of a reference to freed memory.

import HeapAnalysis
import TraceReading
import TraceSymbolication

/// Many objects may have used the memory at an address, one after another. The declared type of the reference's field
/// shows which of these objects the reference meant.
struct DanglingReferents {
  private let graph: ObjectGraph
  private let types: [UInt32: TraceType]
  private let classes: Set<String>

  /// Linear in the types.
  init(_ graph: ObjectGraph, _ types: [UInt32: TraceType]) {
    self.graph = graph
    self.types = types
    classes = Set(types.values.lazy.filter { $0.kind == .class }.map(\.name))
  }

  /// Returns the declared class of a reference's field. Nil for a protocol, and if the program never made an object of
  /// the class.
  func declaredClass(_ reference: ObjectGraph.DanglingReference) -> String? {
    guard let label = graph.label(reference.label.rawValue) else { return nil }
    let name = ReferentName.withoutFiles(label.typeName)
    return classes.contains(name) ? name : nil
  }

  /// Returns whether the live block at a reference's target is certainly not an object of the field's class.
  func isMismatch(_ reference: ObjectGraph.DanglingReference) -> Bool {
    guard let declared = declaredClass(reference) else { return false }
    guard let found = graph.heap.block(containing: reference.target), graph.heap[found].address == reference.target
    else { return true }
    return !isKind(graph.type(of: found.rawValue).typeID, of: declared)
  }

  /// Returns the object that a reference was meant for, among the objects that ended at its target. If the field's
  /// class is not known, all objects that ended there during the holder's life must have one type; otherwise nil.
  func ended(_ reference: ObjectGraph.DanglingReference, among ends: [EndedBlock]) -> EndedBlock? {
    if let declared = declaredClass(reference) { return ends.last { isKind($0.type, of: declared) } }
    let born = graph.heap[reference.from].birthTime
    let later = ends.filter { $0.freed.time >= born }
    return later.count == 1 ? later[0] : nil
  }

  /// Returns whether a type is a class with the given name, or inherits from such a class.
  private func isKind(_ type: UInt32, of name: String) -> Bool {
    var next = type
    // Superclasses form no cycle, unless the trace is damaged.
    for _ in 0..<Self.depthLimit {
      guard let found = types[next], found.kind == .class else { return false }
      if found.name == name { return true }
      next = found.superclass
    }
    return false
  }

  private static let depthLimit = 64
}
