// The Swift types of a process's objects.

import CHeapScan
import CTraceFormat
import TraceReading

/// Distinguishes Swift objects from other blocks, and describes their types. Uses only the contents of memory, like a
/// recorder in its own process.
///
/// For one thread at a time.
final class ObjectTypes {
  /// The types that were found. Superclasses come before their subclasses.
  private(set) var types: [TraceType] = []
  /// The types in the form that the memory scan needs.
  var scanned: [lt_scanned_type] {
    Array(UnsafeBufferPointer(start: state.pointee.scanned, count: Int(state.pointee.count)))
  }

  private let scan: ScannedProcess
  private let regions: UnsafeMutableBufferPointer<lt_snapshot_region>
  private let state: UnsafeMutablePointer<lt_object_types>
  /// False if there was too little memory. There are no types then.
  private let isReady: Bool

  init(_ scan: ScannedProcess) {
    self.scan = scan
    let all = SnapshotRegions.regions(of: scan.process.mappings, threads: [])
    regions = .allocate(capacity: max(1, all.count))
    _ = regions.initialize(from: all)
    state = .allocate(capacity: 1)
    state.initialize(to: lt_object_types())
    state.pointee.memory = UnsafePointer(scan.memory)
    state.pointee.regions = UnsafePointer(regions.baseAddress)
    state.pointee.regionCount = UInt32(all.count)
    state.pointee.firstNumber = 1
    state.pointee.met = { types, met in
      Unmanaged<ObjectTypes>.fromOpaque(types!.pointee.context).takeUnretainedValue().add(met!.pointee)
    }
    isReady = lt_object_types_init(state)
    state.pointee.context = Unmanaged.passUnretained(self).toOpaque()
  }

  deinit {
    lt_object_types_free(state)
    state.deallocate()
    regions.deallocate()
  }

  private func add(_ met: lt_met_type) {
    var description = met.description.pointee
    let name = withUnsafeBytes(of: &description.name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    types.append(
      TraceType(
        id: met.number, metadata: RuntimeAddress(met.metadata),
        kind: TraceType.Kind(rawValue: UInt64(description.kind)),
        descriptor: RuntimeAddress(description.descriptor), name: name, superclass: met.superclass))
  }

  /// Returns the number of an object's type; 0 if the block is not an object.
  ///
  /// - Parameters:
  ///   - first: The block's first word, and `second` the one after it.
  ///   - size: Bytes of the block.
  func type(first: UInt64, second: UInt64, size: UInt64) -> UInt32 {
    isReady ? lt_object_type(state, first, second, size) : 0
  }

  /// Returns the bytes of a block that its object uses. The allocator rounds sizes up, so the bytes after the object
  /// may be stale.
  func size(ofType type: UInt32, usableSize: UInt64) -> UInt64 {
    lt_object_size(state, type, usableSize)
  }

  /// Returns the size of an object whose block has an unknown end: the size of its type, or `room` if that size is
  /// unknown.
  func size(ofType type: UInt32, room: UInt64) -> UInt64 {
    let size = lt_instance_size(state, type)
    return size > 0 ? min(size, room) : room
  }
}
