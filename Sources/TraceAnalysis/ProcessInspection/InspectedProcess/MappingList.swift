// The kernel's list of a process's mappings.

import TraceReading

/// Reads the text of `/proc/PID/maps`. Malformed lines are left out.
struct MappingList {
  private(set) var mappings: [MemoryMapping] = []

  init(_ text: [UInt8]) {
    for line in text.split(separator: UInt8(ascii: "\n")) {
      if let mapping = Self.mapping(line) { mappings.append(mapping) }
    }
  }

  /// Parses a line. Its columns are range, permissions, offset, device, inode and path. The path may contain anything,
  /// even blanks.
  private static func mapping(_ line: ArraySlice<UInt8>) -> MemoryMapping? {
    let columns = line.split(separator: UInt8(ascii: " "), maxSplits: 5, omittingEmptySubsequences: false)
    guard columns.count >= 5 else { return nil }
    let ends = columns[0].split(separator: UInt8(ascii: "-"))
    guard ends.count == 2, let start = number(ends[0]), let end = number(ends[1]), start < end,
      end <= RuntimeAddress.limit,
      let offset = number(columns[2])
    else { return nil }
    let permissions = Array(columns[1])
    guard permissions.count == 4 else { return nil }
    let name = columns.count == 6 ? columns[5].drop { $0 == UInt8(ascii: " ") } : []
    let isFile = !columns[4].elementsEqual([UInt8(ascii: "0")])
    let text = String(decoding: name, as: UTF8.self)
    return MemoryMapping(
      range: start..<end, isReadable: permissions[0] == UInt8(ascii: "r"),
      isWritable: permissions[1] == UInt8(ascii: "w"), isExecutable: permissions[2] == UInt8(ascii: "x"),
      isShared: permissions[3] == UInt8(ascii: "s"), file: isFile ? BackingFile(path: text, offset: offset) : nil,
      kernelName: isFile ? "" : text)
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
    UInt64(String(decoding: digits, as: UTF8.self), radix: 16)
  }
}
