// The C library of a process.

import Glibc
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
      .firstNonNil { Self.release(in: $0.range, memory) } ?? 0
  }

  private static func isLibc(_ name: Substring) -> Bool { name.hasPrefix("libc.so") || name.hasPrefix("libc-2.") }

  /// Part of the text that libc prints when it runs as a program: "GNU C Library (Debian GLIBC 2.36-9) stable release
  /// version 2.36."
  private static let mark = Array("release version 2.".utf8)

  private static func release(in range: Range<UInt64>, _ memory: any ProcessMemory) -> UInt32? {
    let size = min(range.upperBound - range.lowerBound, UInt64(InspectionLimits.libcConstantBytes))
    let bytes = memory.bytes(at: range.lowerBound, count: Int(size))
    return bytes.withUnsafeBytes { bytes -> UInt32? in
      guard let start = bytes.baseAddress else { return nil }
      var at = 0
      // The C library's search is much faster than a loop, and libc's constants have a megabyte.
      while at + mark.count < bytes.count,
        let found = memchr(start + at, Int32(mark[0]), bytes.count - mark.count - at)
      {
        at = UnsafeRawPointer(found) - start
        guard memcmp(found, mark, mark.count) == 0 else {
          at += 1
          continue
        }
        at += mark.count
        let digits = bytes[at...].prefix(3).prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        if let release = UInt32(String(decoding: digits, as: UTF8.self)) { return release }
      }
      return nil
    }
  }
}

extension Sequence {
  /// Returns the first result that is not nil. Calls `transform` once for each element up to that one, unlike
  /// `compactMap` of a lazy collection.
  fileprivate func firstNonNil<Result>(_ transform: (Element) -> Result?) -> Result? {
    for element in self {
      if let result = transform(element) { return result }
    }
    return nil
  }
}
