// One mapping of a process's address space.

/// One mapping of a process, in whole pages.
package struct MemoryMapping: Hashable, Sendable {
  /// The mapping's addresses in the process; never empty.
  package var range: Range<UInt64>
  package var isReadable: Bool
  package var isWritable: Bool
  package var isExecutable: Bool
  /// Whether writes change the file, or the memory of other processes.
  var isShared: Bool
  /// The mapped file; nil for anonymous memory.
  package var file: BackingFile?
  /// The kernel's name for memory without a file, such as `[heap]`. Empty if the kernel gives no name, and always empty
  /// for core files.
  var kernelName: String

  package init(
    range: Range<UInt64>, isReadable: Bool = true, isWritable: Bool = true, isExecutable: Bool = false,
    isShared: Bool = false, file: BackingFile? = nil, kernelName: String = ""
  ) {
    self.range = range
    self.isReadable = isReadable
    self.isWritable = isWritable
    self.isExecutable = isExecutable
    self.isShared = isShared
    self.file = file
    self.kernelName = kernelName
  }

  /// Whether the memory belongs to the process alone and is not from a file.
  var isPrivateAnonymous: Bool { file == nil && !isShared }
}

/// The mapped file, from the process's point of view.
package struct BackingFile: Hashable, Sendable {
  /// The path may have any bytes.
  package var path: String
  /// Offset of the mapping's first byte in the file, in bytes.
  package var offset: UInt64

  package init(path: String, offset: UInt64) {
    self.path = path
    self.offset = offset
  }

  /// The part of the path after the last slash.
  package var name: Substring { path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...] }
}

extension [MemoryMapping] {
  /// Returns the mapping that contains an address; nil if there is none. The array must be in order of addresses. O(log
  /// n)
  package func mapping(at address: UInt64) -> MemoryMapping? {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if self[middle].range.upperBound <= address { low = middle + 1 } else { high = middle }
    }
    return low < count && self[low].range.contains(address) ? self[low] : nil
  }
}
