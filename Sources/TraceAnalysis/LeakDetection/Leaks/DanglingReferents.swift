// Finds the object that a reference to freed memory was meant for.

import HeapAnalysis
import TraceReading
import TraceSymbolication

/// Knows the objects at an address by the type that a field was declared with: many may have had the memory one after
/// the other.
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

  /// The class that a reference's field was declared with; nil for a protocol, and where no object of the class was
  /// ever made.
  func declaredClass(_ reference: ObjectGraph.DanglingReference) -> String? {
    guard let label = graph.label(reference.label.rawValue) else { return nil }
    let name = ReferentName.withoutFiles(label.typeName)
    return classes.contains(name) ? name : nil
  }

  /// Tells whether the block that lives where a reference leads is certainly no object of the field's class.
  func isMismatch(_ reference: ObjectGraph.DanglingReference) -> Bool {
    guard let declared = declaredClass(reference) else { return false }
    guard let found = graph.heap.block(containing: reference.target), graph.heap[found].address == reference.target
    else { return true }
    return !isKind(graph.type(of: found.rawValue).typeID, of: declared)
  }

  /// The object that a reference was meant for, among those that ended at its target. If its type does not tell, there
  /// is one only where all that ended there in the holder's life were of one type.
  func ended(_ reference: ObjectGraph.DanglingReference, among ends: [EndedBlock]) -> EndedBlock? {
    if let declared = declaredClass(reference) { return ends.last { isKind($0.type, of: declared) } }
    let born = graph.heap[reference.from].birthTime
    let later = ends.filter { $0.freed.time >= born }
    return later.count == 1 ? later[0] : nil
  }

  /// Tells whether a type is a class with the given name, or inherits from it.
  private func isKind(_ type: UInt32, of name: String) -> Bool {
    var next = type
    // Classes inherit from one another in no circle, unless a damaged trace says so.
    for _ in 0..<Self.depthLimit {
      guard let found = types[next], found.kind == .class else { return false }
      if found.name == name { return true }
      next = found.superclass
    }
    return false
  }

  private static let depthLimit = 64
}
