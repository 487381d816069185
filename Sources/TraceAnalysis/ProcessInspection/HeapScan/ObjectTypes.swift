// The Swift types of which a process has objects.

import CHeapScan
import CTraceFormat
import TraceReading

/// Tells Swift objects from other blocks, and describes their types, by what stands in memory alone.
///
/// Not to be shared between threads.
struct ObjectTypes {
  /// Superclasses before their subclasses.
  private(set) var types: [TraceType] = []
  /// The same, for the scan of the memory.
  private(set) var scanned: [lt_scanned_type] = []

  /// Bytes of an instance, by number; 0 where instances may go on behind their fields, or the size is not known.
  private var instanceSizes: [UInt64] = [0]

  private let scan: ScannedProcess
  private var numbers: [UInt64: UInt32] = [:]

  init(_ scan: ScannedProcess) { self.scan = scan }

  /// Types that a process may have. Programs have some thousands; generic ones with many arguments some ten thousand.
  private static let limit = 1 << 18
  private static let superclassLimit = 64
  /// Sizes that a class may have for its instances and for its metadata; and what its metadata has at least.
  private static let sizeLimit: UInt32 = 1 << 24
  private static let leastMetadata: UInt32 = 56
  /// An object begins with its metadata and its counts.
  private static let headerSize: UInt64 = 16

  /// The number of an object's type; 0 if the block is no object.
  ///
  /// - Parameters:
  ///   - first: The block's first word, and `second` the one after it.
  ///   - size: Bytes of the block.
  mutating func type(first: UInt64, second: UInt64, size: UInt64) -> UInt32 {
    guard size >= Self.headerSize, first != 0, first & 7 == 0, first < RuntimeAddress.limit,
      lt_is_reference_count(second)
    else { return 0 }
    if let known = numbers[first] { return known }
    return number(of: first, depth: 0)
  }

  /// Bytes of a block that its object uses. The allocator rounds up: what is left at the block's end is from before.
  func size(ofType type: UInt32, usableSize: UInt64) -> UInt64 {
    let size = instanceSizes[Int(type)]
    guard size > 0, size < usableSize, usableSize - size <= Self.roundingLimit(size) else { return usableSize }
    return size
  }

  /// Bytes of an object of which nobody knows where its block ends: those of its type, or all there may be.
  func size(ofType type: UInt32, room: UInt64) -> UInt64 {
    let size = instanceSizes[Int(type)]
    return size > 0 ? min(size, room) : room
  }

  /// Bytes that an allocator adds to a block at most: glibc up to the next multiple of 16, and a rest that is too small
  /// for a block of its own; jemalloc a quarter, and up to the next multiple of 16.
  private static func roundingLimit(_ size: UInt64) -> UInt64 { max(15 + 16, size / 4 + 16) }

  private mutating func number(of metadata: UInt64, depth: Int) -> UInt32 {
    if metadata == 0 { return 0 }
    if let known = numbers[metadata] { return known }
    guard types.count < Self.limit, depth < Self.superclassLimit, isMetadata(metadata) else {
      numbers[metadata] = 0
      return 0
    }
    // A class that says that it is above itself has no superclass.
    numbers[metadata] = 0
    var description = lt_type_description()
    lt_describe_type(scan.memory, metadata, &description)
    let superclass = number(of: description.superclass, depth: depth + 1)
    let name = withUnsafeBytes(of: &description.name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    let number = UInt32(types.count + 1)
    types.append(
      TraceType(
        id: number, metadata: RuntimeAddress(metadata), kind: TraceType.Kind(rawValue: UInt64(description.kind)),
        descriptor: RuntimeAddress(description.descriptor), name: name, superclass: superclass))
    instanceSizes.append(instanceSize(metadata, name, superclass))
    scanned.append(lt_scanned_type(metadata: metadata, storage: description.storage))
    numbers[metadata] = number
    return number
  }

  private func instanceSize(_ metadata: UInt64, _ name: String, _ superclass: UInt32) -> UInt64 {
    guard types.last?.kind == .class, !Self.growing.contains(where: { name.hasPrefix($0) }) else { return 0 }
    // What is above goes on behind its fields, and so does this.
    if superclass != 0, instanceSizes[Int(superclass)] == 0 { return 0 }
    return UInt64(lt_half_at(scan.memory, metadata &+ 24))
  }

  /// Classes whose instances go on behind their fields: storage of the standard library and of swift-collections, and
  /// buffers.
  private static let growing = ["Swift.", "DequeModule.", "HashTreeCollections.", "RopeModule.", "Foundation."]

  /// Tells whether there is the metadata of objects: of a class, a closure's context, a box, an error or a task.
  private func isMetadata(_ metadata: UInt64) -> Bool {
    guard let mapping = scan.process.mappings.mapping(at: metadata), mapping.isReadable else { return false }
    var kind: UInt64 = 0
    guard lt_read_bytes(scan.memory, metadata, &kind, 8) else { return false }
    switch kind {
    case UInt64(KIND_CLASS.rawValue): return isClass(metadata)
    case UInt64(KIND_CONTEXT.rawValue), UInt64(KIND_BOX.rawValue), UInt64(KIND_ERROR.rawValue),
      UInt64(KIND_TASK.rawValue):
      // The function that frees such an object stands before its value witnesses.
      return isCode(lt_word_at(scan.memory, metadata &- 16))
    default: return false
    }
  }

  private func isClass(_ metadata: UInt64) -> Bool {
    let size = lt_half_at(scan.memory, metadata &+ 32)
    let addressPoint = lt_half_at(scan.memory, metadata &+ 36)
    let instanceSize = lt_half_at(scan.memory, metadata &+ 24)
    let descriptor = lt_word_at(scan.memory, metadata &+ 40)
    return size <= Self.sizeLimit && addressPoint < size && addressPoint >= 16 && addressPoint & 7 == 0
      && size - addressPoint >= Self.leastMetadata && instanceSize >= UInt32(Self.headerSize)
      && instanceSize <= Self.sizeLimit && descriptor & 3 == 0
      && lt_half_at(scan.memory, descriptor) & Self.descriptorKind == Self.classDescriptor
      && isCode(lt_word_at(scan.memory, metadata &- 16))
  }

  /// Of the flags of a context descriptor (swiftlang/swift, include/swift/ABI/MetadataValues.h).
  private static let descriptorKind: UInt32 = 31
  private static let classDescriptor: UInt32 = 16

  private func isCode(_ address: UInt64) -> Bool {
    scan.process.mappings.mapping(at: address)?.isExecutable ?? false
  }
}
