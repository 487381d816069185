// Unpacks compressed core files, such as those that systemd keeps.

import CZstd
import Glibc

/// The compression of a core file.
package enum CorePacking: String, CaseIterable, Hashable, Sendable {
  case zstd, lz4, xz, gzip

  /// The first bytes of such a file: the magic number of a Zstandard or LZ4 frame, or of an XZ or gzip header.
  private var head: [UInt8] {
    switch self {
    case .zstd: [0x28, 0xB5, 0x2F, 0xFD]
    case .lz4: [0x04, 0x22, 0x4D, 0x18]
    case .xz: [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00]
    case .gzip: [0x1F, 0x8B]
    }
  }

  /// Returns nil if the file has no known compression.
  init?(file descriptor: Int32) {
    var bytes = [UInt8](repeating: 0, count: 8)
    let count = max(0, pread(descriptor, &bytes, bytes.count, 0))
    guard let found = Self.allCases.first(where: { bytes[..<count].starts(with: $0.head) }) else { return nil }
    self = found
  }
}

/// Decompresses a core file as a stream into a file without a name. Pages of zeros take no space in that file. The
/// kernel deletes the unpacked file when it is closed.
///
/// For one thread at a time.
struct PackedCore {
  private let path: String
  private let packed: Int32
  private let directory: String

  /// Bytes to decompress in one step; a multiple of the page size.
  private static let pieceBytes = 1 << 20
  private static let pageBytes = 4096
  /// Free bytes on the disk that must remain for other programs.
  private static let spareBytes: UInt64 = 512 << 20
  /// Maximum unpacked size. No process has that much resident memory.
  private static let sizeLimit: UInt64 = 1 << 40

  /// - Parameters:
  ///   - packed: The descriptor of the compressed file, which the caller still owns.
  ///   - directory: The directory for the unpacked file.
  init(path: String, packed: Int32, directory: String) {
    (self.path, self.packed, self.directory) = (path, packed, directory)
  }

  /// Returns the descriptor of the unpacked file, which the caller owns. If the compressed file is damaged or
  /// truncated, the result has the bytes before the damage. O(unpacked bytes)
  func unpacked() throws(InspectionError) -> Int32 {
    let file = temporaryFile()
    guard file >= 0 else { throw .cannotUnpack(path: path, directory: directory, errno: errno) }
    do throws(InspectionError) {
      try unpack(into: file)
    } catch {
      close(file)
      throw error
    }
    return file
  }

  private func temporaryFile() -> Int32 {
    var template = Array((directory + "/.leaktrace-core-XXXXXX").utf8CString)
    let file = mkstemp(&template)
    if file >= 0 {
      unlink(template)
      _ = fcntl(file, F_SETFD, FD_CLOEXEC)
    }
    return file
  }

  private func unpack(into file: Int32) throws(InspectionError) {
    guard let stream = ZSTD_createDStream() else {
      throw .cannotUnpack(path: path, directory: directory, errno: ENOMEM)
    }
    defer { ZSTD_freeDStream(stream) }
    let input = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceBytes, alignment: 16)
    let output = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceBytes, alignment: 16)
    defer {
      input.deallocate()
      output.deallocate()
    }
    var (size, from): (UInt64, off_t) = (0, 0)
    var isDamaged = false
    var out = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
    while !isDamaged {
      let count = pread(packed, input.baseAddress, input.count, from)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      from += off_t(count)
      var taken = ZSTD_inBuffer(src: input.baseAddress, size: count, pos: 0)
      var isFull = false
      while !isDamaged, taken.pos < taken.size || isFull {
        isDamaged = ZSTD_isError(ZSTD_decompressStream(stream, &out, &taken)) != 0
        isFull = out.pos == out.size
        guard isFull else { continue }
        try write(UnsafeRawBufferPointer(output), at: size, to: file)
        size += UInt64(output.count)
        out.pos = 0
        guard size <= Self.sizeLimit else { throw .beyondLimit(path: path, what: "bytes") }
      }
    }
    try write(UnsafeRawBufferPointer(rebasing: output[..<out.pos]), at: size, to: file)
    size += UInt64(out.pos)
    guard size > 0 else { throw .notACore(path: path) }
    // The file may end with pages of zeros, which were not written: set its full size.
    guard ftruncate(file, off_t(size)) == 0 else {
      throw .cannotUnpack(path: path, directory: directory, errno: errno)
    }
  }

  /// Writes the pages that are not all zeros.
  private func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64, to file: Int32) throws(InspectionError) {
    guard Self.room(on: file) >= Self.spareBytes else {
      throw .cannotUnpack(path: path, directory: directory, errno: ENOSPC)
    }
    var begin = 0
    while begin < bytes.count {
      var end = begin
      while end < bytes.count, !Self.isZero(bytes, end) { end = min(end + Self.pageBytes, bytes.count) }
      var done = begin
      while done < end {
        let count = pwrite(file, bytes.baseAddress! + done, end - done, off_t(offset) + off_t(done))
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw .cannotUnpack(path: path, directory: directory, errno: errno) }
        done += count
      }
      begin = min(end + Self.pageBytes, bytes.count)
    }
  }

  private static func isZero(_ bytes: UnsafeRawBufferPointer, _ at: Int) -> Bool {
    let page = UnsafeRawBufferPointer(rebasing: bytes[at..<min(at + pageBytes, bytes.count)])
    return page[0] == 0 && (page.count == 1 || memcmp(page.baseAddress!, page.baseAddress! + 1, page.count - 1) == 0)
  }

  private static func room(on file: Int32) -> UInt64 {
    var system = statvfs()
    guard fstatvfs(file, &system) == 0 else { return .max }
    return UInt64(system.f_bavail) &* UInt64(system.f_frsize)
  }
}
