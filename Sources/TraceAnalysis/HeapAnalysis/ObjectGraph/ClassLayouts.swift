// The layouts of objects in a heap that was rebuilt from events.

import CHeapScan
import TraceReading

/// The layouts of a program's classes and collections, for a heap that was rebuilt from events. Such a heap has the
/// references of a collection side by side, like the elements of an array. The words of all other objects are scanned.
/// For one thread at a time.
package final class ClassLayouts: LayoutSource {
  private let base: any LayoutSource
  private let classes: Set<RuntimeAddress>
  private let collections: Set<RuntimeAddress>
  /// By class and offset of a field: the offsets of the fields that it is not told apart from.
  private var joined: [RuntimeAddress: [Int: Set<Int>]] = [:]

  package init(_ base: any LayoutSource, _ definitions: TraceDefinitions) {
    self.base = base
    let types = definitions.types.values
    classes = Set(types.filter { TypeNames.type($0).kind == .object }.map(\.metadata))
    collections = Set(types.filter { TypeNames.type($0).kind.isCollection }.map(\.metadata))
  }

  package func layout(ofInstanceAt address: RuntimeAddress, metadata: RuntimeAddress) -> ObjectLayout? {
    if collections.contains(metadata) { return Self.collection }
    guard classes.contains(metadata), var layout = base.layout(ofInstanceAt: address, metadata: metadata) else {
      return nil
    }
    guard let joined = joined[metadata] else { return layout }
    let names = Dictionary(layout.references.map { ($0.offset, $0.name) }, uniquingKeysWith: { first, _ in first })
    for index in layout.references.indices {
      guard let group = joined[layout.references[index].offset] else { continue }
      layout.references[index].name = Self.name(group.sorted().compactMap { names[$0] })
    }
    return layout
  }

  /// The offset of a collection's first reference in a rebuilt heap.
  package static let firstElement = 32

  private static let collection = ObjectLayout(
    typeName: "", size: firstElement, references: [], opaque: [],
    tail: .array(
      start: firstElement, countOffset: Int(SWIFT_ARRAY_COUNT),
      element: ValueLayout(
        typeName: "", size: 8, stride: 8, alignment: 8,
        references: [ReferenceField(offset: 0, name: "", strength: .strong, kind: .object, typeName: "")], opaque: [])))

  /// Returns `first, second or third`; empty if there are many names.
  private static func name(_ names: [String]) -> String {
    guard let last = names.last, names.count > 1, names.count <= nameLimit else { return "" }
    return names.dropLast().joined(separator: ", ") + " or " + last
  }

  private static let nameLimit = 4

  /// Gives fields of a class one name: each part that one of them may hold fits all of them. `groups`: offsets.
  package func join(_ groups: Set<[Int]>, of metadata: RuntimeAddress) {
    for group in groups {
      var all = Set(group)
      for offset in group { all.formUnion(joined[metadata]?[offset] ?? []) }
      for offset in all { joined[metadata, default: [:]][offset] = all }
    }
  }

  package func dependsOnInstance(_ metadata: RuntimeAddress) -> Bool { base.dependsOnInstance(metadata) }
  package func metadataKind(at address: UInt64) -> UInt64? { base.metadataKind(at: address) }
  package func bufferedValue(ofTypeWithMetadata address: UInt64) -> BufferedValue? { nil }
  package func word(at address: UInt64) -> UInt64? { base.word(at: address) }
  package func hasNoSize(valuesOfTypeAt address: UInt64) -> Bool { base.hasNoSize(valuesOfTypeAt: address) }
  // A rebuilt heap has no words of tasks.
  package func addresses(ofConcurrencyVariable name: String) -> [UInt64] { [] }
  package func hasConcurrency(function name: String) -> Bool { false }
  package var problem: String? { base.problem }
}
