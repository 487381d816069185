// The bytes of a trace or live file, from a file or from memory.

import Glibc

/// Random access to bytes. Reads with `pread` rather than through a mapping: a mapped file that someone truncates would
/// kill the reader.
/// Owns its descriptor. Not safe to share between threads while it is being closed; reading is.
final class ByteSource {
  enum Storage {
    case memory([UInt8])
    case file(descriptor: Int32)
  }

  let storage: Storage
  /// Bytes when opened, without the room that a recorder has ahead of it (`TraceReserve`). A trace that is still
  /// growing may have more by now; the reader keeps to this size.
  let size: UInt64

  init(bytes: [UInt8]) {
    storage = .memory(bytes)
    size = UInt64(bytes.count)
  }

  /// Opens a regular file for reading.
  init(path: String) throws(TraceFormatError) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    if descriptor < 0 { throw .system(call: "open", path: path, errno: errno) }
    var status = stat()
    if fstat(descriptor, &status) != 0 {
      let code = errno
      close(descriptor)
      throw .system(call: "stat", path: path, errno: code)
    }
    if status.st_mode & S_IFMT == S_IFDIR {
      close(descriptor)
      throw .system(call: "open", path: path, errno: EISDIR)
    }
    if status.st_mode & S_IFMT != S_IFREG {
      close(descriptor)
      throw .system(call: "open", path: path, errno: EINVAL)
    }
    storage = .file(descriptor: descriptor)
    size = TraceReserve.dataEnd(descriptor: descriptor, size: UInt64(max(0, status.st_size)))
  }

  deinit {
    if case .file(let descriptor) = storage { close(descriptor) }
  }

  /// Fills `buffer` from `offset` as far as the source goes; returns the bytes read. A read error counts as the end.
  func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    guard offset < size, let base = buffer.baseAddress else { return 0 }
    let wanted = Int(min(UInt64(buffer.count), size - offset))
    switch storage {
    case .memory(let bytes):
      bytes.withUnsafeBytes { source in
        base.copyMemory(from: source.baseAddress! + Int(offset), byteCount: wanted)
      }
      return wanted
    case .file(let descriptor):
      var done = 0
      while done < wanted {
        let n = pread(descriptor, base + done, wanted - done, off_t(offset) + off_t(done))
        if n > 0 { done += n } else if n == 0 || errno != EINTR { break }
      }
      return done
    }
  }

  /// The bytes at `offset`, or nil if not all of them are there. The caller bounds `count`.
  func bytes(at offset: UInt64, count: Int) -> [UInt8]? {
    guard count >= 0, offset <= size, UInt64(count) <= size - offset else { return nil }
    if count == 0 { return [] }
    let result = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      initialized = read(at: offset, into: UnsafeMutableRawBufferPointer(buffer))
    }
    return result.count == count ? result : nil
  }
}
