// The bytes of a trace or live file, from a file or from memory.

import Glibc

/// Random access to bytes. Reads with `pread`, not through a mapping: if another process truncated a mapped file, a
/// read would kill this process. Owns its descriptor. Several threads may read at the same time, but not during
/// `deinit`.
final class ByteSource {
  enum Storage {
    case memory([UInt8])
    case file(descriptor: Int32)
  }

  let storage: Storage
  /// The size in bytes when the file was opened, without the space that a recorder reserves at the end
  /// (`TraceReserve`). A trace that is still growing may have more bytes by now, but they are not read.
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

  /// Fills `buffer` with the bytes from `offset` on, up to the end of the source. Returns the number of bytes. A read
  /// error counts as the end.
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

  /// Returns `count` bytes at `offset`; nil if the source ends before. The caller must limit `count`.
  func bytes(at offset: UInt64, count: Int) -> [UInt8]? {
    guard count >= 0, offset <= size, UInt64(count) <= size - offset else { return nil }
    if count == 0 { return [] }
    let result = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      initialized = read(at: offset, into: UnsafeMutableRawBufferPointer(buffer))
    }
    return result.count == count ? result : nil
  }
}
