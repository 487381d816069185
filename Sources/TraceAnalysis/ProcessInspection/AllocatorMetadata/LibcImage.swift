// The C library of a process.

import TraceReading

/// The data of a process's libc, and its release.
struct LibcImage {
  /// Addresses of libc's initialised data. If no mapping has libc's name, the data of all mapped files, since libc may
  /// be linked statically or have another name.
  let data: [Range<UInt64>]
  /// The release of glibc: 36 for glibc 2.36. 0 if it is not known.
  let release: UInt32

  /// O(mappings and libc's constants)
  init(in memory: any ProcessMemory) {
    let ofFiles = memory.mappings.filter { $0.file != nil && $0.isReadable && !$0.isShared }
    let ofLibc = ofFiles.filter { Self.isLibc($0.file!.name) }
    let writable = ofLibc.filter(\.isWritable)
    data = (writable.isEmpty ? ofFiles.filter(\.isWritable) : writable).map(\.range)
    release =
      ofLibc.lazy.filter { !$0.isWritable && !$0.isExecutable }
      .compactMap { Self.release(in: $0.range, memory) }.first ?? 0
  }

  private static func isLibc(_ name: Substring) -> Bool { name.hasPrefix("libc.so") || name.hasPrefix("libc-2.") }

  /// Part of the text that libc prints when it runs as a program: "GNU C Library (Debian GLIBC 2.36-9) stable release
  /// version 2.36."
  private static let mark = Array("release version 2.".utf8)

  private static func release(in range: Range<UInt64>, _ memory: any ProcessMemory) -> UInt32? {
    let size = min(range.upperBound - range.lowerBound, UInt64(InspectionLimits.libcConstantBytes))
    let bytes = memory.bytes(at: range.lowerBound, count: Int(size))
    return bytes.withUnsafeBytes { bytes -> UInt32? in
      var at = 0
      while at + mark.count < bytes.count {
        guard bytes[at] == mark[0], mark.indices.allSatisfy({ bytes[at + $0] == mark[$0] }) else {
          at += 1
          continue
        }
        let digits = bytes[(at + mark.count)...].prefix(3).prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        if let release = UInt32(String(decoding: digits, as: UTF8.self)) { return release }
        at += mark.count
      }
      return nil
    }
  }
}
