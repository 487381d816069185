// Finds an object's references from its metadata and the reflection sections of the program's loaded images.

import CHeapScan
import CRemoteMirror
import PlatformRules
import TraceReading

/// Finds the layouts of Swift objects in a process. The process may have exited.
///
/// The Swift runtime's remote mirror library reads the metadata in a child process. If the library cannot read an
/// object, there is no layout, and the caller treats each word as a possible reference. Layouts are cached by metadata.
/// For one thread at a time.
package final class SwiftReflection {
  private let memory: any TargetMemory
  private let mirror: MirrorProcess
  private let values: ValueReflection
  private let imageRanges: [Range<UInt64>]
  private var classes: [RuntimeAddress: ObjectLayout?] = [:]
  private var contexts: [RuntimeAddress: ObjectLayout?] = [:]
  private var valueTypes: [RuntimeAddress: ValueLayout?] = [:]

  /// Maximum number of attempts for one object. Each attempt may end the child through another type among the object's
  /// parts.
  private static let attemptLimit = 4
  /// Maximum length of a chain of superclasses.
  private static let depthLimit = 256
  /// Maximum size in bytes of a closure context.
  private static let sizeLimit = 1 << 24

  /// - Parameters:
  ///   - images: the files of the loaded images.
  ///   - memory: the memory of the process. A child process uses a copy of this value.
  ///   - libraries: paths of the remote mirror library, in order of preference; see
  ///     `RemoteMirrorLibrary.candidates(images:path:)`.
  package init(images: ImageContents, memory: any TargetMemory, libraries: [String]) throws(SwiftReflectionError) {
    self.memory = memory
    imageRanges = images.images.map { $0.loaded.range.lowerBound.rawValue..<$0.loaded.range.upperBound.rawValue }
    mirror = try MirrorProcess(library: RemoteMirrorLibrary.load(libraries), contents: images, memory: memory)
    values = ValueReflection(mirror)
  }

  /// The number of questions that ended the child; 0 if the trace is not damaged.
  var failedQuestions: Int { mirror.deaths }

  /// Returns the layout of the object at an address; `nil` if it is unknown.
  ///
  /// - Parameter metadata: the object's first word.
  package func layout(ofInstanceAt address: RuntimeAddress, metadata: RuntimeAddress) -> ObjectLayout? {
    unboundedLayout(ofInstanceAt: address, metadata: metadata)?.bounded
  }

  private func unboundedLayout(ofInstanceAt address: RuntimeAddress, metadata: RuntimeAddress) -> ObjectLayout? {
    guard let kind = memory.word(at: metadata) else { return nil }
    switch Int(lt_metadata_kind(kind)) {
    case SWIFT_KIND_CLASS:
      return cached(\.classes, metadata) { () throws(MirrorProcess.Failure) in try self.classLayout(metadata) }
    case SWIFT_KIND_CONTEXT:
      if dependsOnInstance(metadata) {
        return attempt { () throws(MirrorProcess.Failure) in try self.contextLayout(address) }
      }
      return cached(\.contexts, metadata) { () throws(MirrorProcess.Failure) in try self.contextLayout(address) }
    case SWIFT_KIND_BOX: return boxLayout(metadata)
    case SWIFT_KIND_ERROR: return errorLayout(address)
    default: return nil
    }
  }

  /// Returns the layout of the values of a type, as in the buffer of an `any P`; `nil` if it is unknown.
  package func value(ofTypeWithMetadata metadata: RuntimeAddress) -> ValueLayout? {
    cached(\.valueTypes, metadata) { () throws(MirrorProcess.Failure) in
      let layout = try self.values.layout(of: try self.mirror.value(ofTypeWithMetadata: metadata))
      return self.confirmed(layout, metadata)
    }
  }

  /// Returns the parts of a layout that the runtime's size of the type confirms.
  private func confirmed(_ layout: ValueLayout?, _ metadata: RuntimeAddress?) -> ValueLayout? {
    guard let layout, layout.guess != .none else { return layout }
    return layout.confirmed(
      by: metadata.map { ValueSize(ofTypeWithMetadata: $0, in: memory, isImage: isImage) } ?? .unknown)
  }

  private func isImage(_ address: RuntimeAddress) -> Bool { imageRanges.contains { $0.contains(address.rawValue) } }

  /// Returns how the buffer of an `any P` stores a value of the type; `nil` if that is unknown.
  package func bufferedValue(ofTypeWithMetadata metadata: RuntimeAddress) -> BufferedValue? {
    BufferedValue(ofTypeWithMetadata: metadata, in: memory) { value(ofTypeWithMetadata: metadata) }
  }

  private func cached<Layout>(
    _ cache: ReferenceWritableKeyPath<SwiftReflection, [RuntimeAddress: Layout?]>, _ metadata: RuntimeAddress,
    _ body: () throws(MirrorProcess.Failure) -> Layout?
  ) -> Layout? {
    if let known = self[keyPath: cache][metadata] { return known }
    let layout = attempt(body)
    self[keyPath: cache][metadata] = .some(layout)
    return layout
  }

  /// Calls `body`, and calls it again each time the type of a part ends the child. `values` then skips that type.
  private func attempt<Layout>(_ body: () throws(MirrorProcess.Failure) -> Layout?) -> Layout? {
    for _ in 0..<Self.attemptLimit {
      let fatal = values.fatal.count
      do throws(MirrorProcess.Failure) {
        return try body()
      } catch {
        guard case .died = error, values.fatal.count > fatal else { return nil }
      }
    }
    return nil
  }

  // MARK: Classes

  private func classLayout(_ metadata: RuntimeAddress) throws(MirrorProcess.Failure) -> ObjectLayout? {
    guard let own = ClassMetadata(metadata, in: memory) else { return nil }
    var chain = [own]
    while let last = chain.last, last.superclass.rawValue != 0 {
      guard chain.count < Self.depthLimit, let next = ClassMetadata(last.superclass, in: memory),
        next.instanceSize <= last.instanceSize
      else {
        return nil
      }
      chain.append(next)
    }
    var layout = ObjectLayout(typeName: "", size: own.instanceSize, references: [], opaque: [], tail: .unknown)
    var parent: ClassMetadata?
    for part in chain.reversed() {
      let answer = try append(part, parent: parent, to: &layout)
      parent = part
      guard part.address == metadata else {
        layout.superclassNames.insert(answer.typeName, at: 0)
        continue
      }
      layout.typeName = answer.typeName
      layout.tail = try tail(of: answer, part, layout: layout)
    }
    if layout.tail == .unknown, Self.withLockBehind.matches(layout.typeName) {
      layout.tail = .plain
    } else if layout.tail != .unknown {
      // This is storage of a collection or a string. Its fields hold only counts, and pointers to its own contents.
      layout.references = []
      layout.opaque = []
      layout.enumerations = []
      layout.narrow = []
    }
    layout.references.sort { $0.offset < $1.offset }
    return layout
  }

  /// Adds the stored properties of one class in the chain of superclasses.
  private func append(
    _ part: ClassMetadata, parent: ClassMetadata?, to layout: inout ObjectLayout
  ) throws(MirrorProcess.Failure) -> MirrorAnswer {
    let start = parent?.instanceSize ?? SWIFT_OBJECT_HEADER
    let answer = try mirror.instances(ofClassWithMetadata: part.address)
    // Take the offsets from the metadata. The library's offsets are wrong for a class with two superclasses that both
    // have stored properties, since the library adds up their sizes.
    let offsets = part.fieldOffsets(parent: parent, in: memory)
    guard answer.kind == LT_MIRROR_CLASS_INSTANCE, let offsets, offsets.count == answer.fields.count else {
      layout.opaque += opaqueFields(of: part, from: start, offsets: offsets ?? [], className: answer.typeName)
      return answer
    }
    var placed = answer
    placed.fields = zip(answer.fields, offsets).compactMap { field, offset in
      offset.map { offset in
        var field = field
        field.offset = offset
        return field
      }
    }
    placed.size = part.instanceSize
    let parts = try values.parts(of: placed, from: start)
    let enumerationCount = layout.enumerations.count
    layout.enumerations += parts.enumerations.map { $0.moved(by: 0, after: enumerationCount) }
    layout.references += parts.references.lazy.filter { $0.offset >= start && $0.offset <= part.instanceSize - 8 }
      .map { $0.moved(by: 0, after: enumerationCount) }
    layout.opaque += parts.opaque.lazy.filter {
      $0.range.lowerBound >= start && $0.range.upperBound <= part.instanceSize
    }
    .map { $0.moved(by: 0, after: enumerationCount) }
    layout.narrow += parts.narrow.lazy.filter { $0.lowerBound >= start && $0.upperBound <= part.instanceSize }
    return answer
  }

  /// Returns the stored properties of a class as opaque parts. This is for classes that the library cannot lay out,
  /// because the type of a property is unknown.
  private func opaqueFields(of part: ClassMetadata, from start: Int, offsets: [Int?], className: String)
    -> [OpaqueField]
  {
    let end = part.instanceSize
    guard end > start else { return [] }
    guard !offsets.isEmpty, let names = part.fieldNames(count: offsets.count, in: memory) else {
      return [OpaqueField(range: start..<end, name: "", typeName: className)]
    }
    let fields = zip(offsets, names).compactMap { offset, name in offset.map { (offset: $0, name: name) } }
    return fields.enumerated().compactMap { index, field in
      let bound = index + 1 < fields.count ? fields[index + 1].offset : end
      return field.offset < bound ? OpaqueField(range: field.offset..<bound, name: field.name, typeName: "") : nil
    }
  }

  /// Classes of the runtime that have only a lock after their stored properties.
  private static let withLockBehind = RuleBook.shipped.table(.lockBehind, by: .type)

  /// Returns the contents that a class of the standard library has after its stored properties.
  private func tail(of answer: MirrorAnswer, _ class: ClassMetadata, layout: ObjectLayout) throws(MirrorProcess.Failure)
    -> ObjectTail
  {
    let name = answer.typeName
    func argument(_ index: Int) throws(MirrorProcess.Failure) -> ValueLayout? {
      confirmed(try values.layout(of: answer.arguments[index]), `class`.genericArgument(index, in: memory))
    }
    switch answer.arguments.count {
    case 0: return name == "Swift.__StringStorage" || name == "Swift.__SharedStringStorage" ? .plain : .unknown
    case 1 where name.hasPrefix("Swift._ContiguousArrayStorage<"):
      guard let element = try argument(0), layout.size == SWIFT_ARRAY_ELEMENTS else { return .unknown }
      return .array(
        start: element.firstOffset(from: SWIFT_ARRAY_ELEMENTS), countOffset: SWIFT_ARRAY_COUNT, element: element)
    // The class has no stored properties. A header of three words precedes the elements.
    case 1 where name.hasPrefix("Swift._DequeBuffer<") || name.hasPrefix("DequeModule._DequeBuffer<"):
      guard let element = try argument(0), layout.size <= SWIFT_DEQUE_ELEMENTS else { return .unknown }
      return .ring(
        start: element.firstOffset(from: SWIFT_DEQUE_ELEMENTS), capacityOffset: SWIFT_DEQUE_CAPACITY,
        countOffset: SWIFT_DEQUE_COUNT, firstOffset: SWIFT_DEQUE_FIRST, element: element)
    case 1 where name.hasPrefix("Swift._SetStorage<"):
      guard let key = try argument(0), layout.size == SWIFT_SET_BITMAP else { return .unknown }
      return .hashTable(
        scaleOffset: SWIFT_TABLE_SCALE, bitmapOffset: SWIFT_SET_BITMAP, keysOffset: SWIFT_TABLE_KEYS, key: key,
        valuesOffset: nil, value: nil)
    case 2 where name.hasPrefix("Swift._DictionaryStorage<"):
      guard let key = try argument(0), let value = try argument(1), layout.size == SWIFT_DICTIONARY_BITMAP
      else { return .unknown }
      return .hashTable(
        scaleOffset: SWIFT_TABLE_SCALE, bitmapOffset: SWIFT_DICTIONARY_BITMAP, keysOffset: SWIFT_TABLE_KEYS, key: key,
        valuesOffset: SWIFT_DICTIONARY_VALUES, value: value)
    default: return .unknown
    }
  }

  // MARK: Closure contexts, boxes, errors

  /// Returns whether each context of a closure may have its own layout. This is true for a generic closure: each
  /// context stores the bindings of the closure's generic parameters.
  func dependsOnInstance(_ metadata: RuntimeAddress) -> Bool {
    guard let descriptor = memory.word(at: RuntimeAddress(metadata.rawValue &+ UInt64(SWIFT_CONTEXT_DESCRIPTOR))),
      descriptor != 0
    else {
      return false
    }
    return memory.word(at: RuntimeAddress(descriptor &+ 4)) != 0
  }

  private func contextLayout(_ address: RuntimeAddress) throws(MirrorProcess.Failure) -> ObjectLayout? {
    let answer = try mirror.instance(at: address)
    let name = "closure context"
    guard answer.kind != LT_MIRROR_UNKNOWN, answer.size <= Self.sizeLimit else {
      return ObjectLayout(typeName: name, size: SWIFT_OBJECT_HEADER, references: [], opaque: [], tail: .unknown)
    }
    let parts = try values.parts(of: answer, from: SWIFT_OBJECT_HEADER)
    if answer.fields.count == 1, parts.opaque.isEmpty, parts.references.allSatisfy({ $0.strength == .unmanaged }) {
      return ofUncountedCapture(parts, size: answer.size, name: name)
    }
    return ObjectLayout(
      typeName: name, size: answer.size, references: parts.references, opaque: parts.opaque,
      enumerations: parts.enumerations, narrow: parts.narrow,
      tail: .unknown)
  }

  /// Returns the layout of a context with one capture and no counted references. The context may be the box of a
  /// variable. The compiler uses one type of box for all such values of the same size and alignment. It describes this
  /// type by the first such value, so any word may be a pointer. Seen with Swift 6.3.1; source: swiftlang/swift,
  /// lib/IRGen/GenHeap.cpp, PODBoxTypeInfo.
  private func ofUncountedCapture(_ parts: ValueReflection.Parts, size: Int, name: String) -> ObjectLayout {
    let end = max(SWIFT_OBJECT_HEADER, (size + 7) & ~7)
    let references = parts.enumerations.isEmpty ? parts.references.sorted { $0.offset < $1.offset } : []
    var rest: [OpaqueField] = []
    var next = SWIFT_OBJECT_HEADER
    for reference in references where reference.offset >= next {
      if reference.offset > next { rest.append(OpaqueField(range: next..<reference.offset, name: "", typeName: "")) }
      next = reference.offset + 8
    }
    if next < end { rest.append(OpaqueField(range: next..<end, name: "", typeName: "")) }
    return ObjectLayout(typeName: name, size: end, references: references, opaque: rest, tail: .unknown)
  }

  /// Returns the layout of a box that the runtime made. The library does not know such boxes. The box's metadata has
  /// the offset and the type of the value.
  private func boxLayout(_ metadata: RuntimeAddress) -> ObjectLayout? {
    guard let offset = memory.value(at: RuntimeAddress(metadata.rawValue &+ UInt64(SWIFT_BOX_OFFSET)), as: UInt32.self),
      (SWIFT_OBJECT_HEADER...4096).contains(Int(offset)),
      let type = memory.word(at: RuntimeAddress(metadata.rawValue &+ UInt64(SWIFT_BOX_TYPE))),
      let value = value(ofTypeWithMetadata: RuntimeAddress(type))
    else { return nil }
    return layout(ofBoxWith: value, at: Int(offset))
  }

  /// Returns the layout of an error's box. After the header it has the metadata of the error's type, the conformance to
  /// `Error`, and the value.
  private func errorLayout(_ address: RuntimeAddress) -> ObjectLayout? {
    guard let type = memory.word(at: RuntimeAddress(address.rawValue &+ UInt64(SWIFT_ERROR_TYPE))),
      let value = value(ofTypeWithMetadata: RuntimeAddress(type))
    else {
      return nil
    }
    return layout(ofBoxWith: value, at: value.firstOffset(from: SWIFT_ERROR_VALUE))
  }

  private func layout(ofBoxWith value: ValueLayout, at start: Int) -> ObjectLayout {
    ObjectLayout(
      typeName: value.typeName, size: start + value.size, references: value.references.map { $0.moved(by: start) },
      opaque: value.opaque.map { $0.moved(by: start) },
      enumerations: value.enumerations.map { $0.moved(by: start, after: 0) },
      narrow: value.narrow.map { $0.lowerBound + start..<$0.upperBound + start }, tail: .unknown)
  }
}
