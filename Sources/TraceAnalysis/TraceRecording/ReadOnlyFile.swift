// Random access to a file, limited to the size that it had when it was opened.

import Glibc
import TraceReading

/// A file that is open for reading. Owns its descriptor, which child processes do not inherit. For one thread at a
/// time.
struct ReadOnlyFile: ~Copyable {
  private let descriptor: Int32
  /// The size when the file was opened.
  let size: UInt64
  let deviceAndInode: FileIdentity

  /// Opens a regular file. Returns nil with `errno` set if the file cannot be opened, or is not a regular file. A pipe,
  /// for example, would block.
  init?(path: String) {
    let fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard fd >= 0 else { return nil }
    var information = stat()
    guard fstat(fd, &information) == 0, information.st_mode & S_IFMT == S_IFREG else {
      close(fd)
      errno = EINVAL
      return nil
    }
    descriptor = fd
    size = UInt64(information.st_size)
    deviceAndInode = FileIdentity(information)
  }

  deinit { close(descriptor) }

  /// For a trace: the end of its data, without the space that the recorder has reserved.
  var traceDataEnd: UInt64 { TraceReserve.dataEnd(descriptor: descriptor, size: size) }

  /// Returns up to `count` bytes from `offset` on; fewer at the end of the file or after an error.
  func bytes(at offset: UInt64, count: Int) -> [UInt8] {
    guard offset < size else { return [] }
    let wanted = min(UInt64(count), size - offset)
    return [UInt8](unsafeUninitializedCapacity: Int(wanted)) { buffer, filled in
      filled = 0
      while filled < buffer.count {
        let step = pread(descriptor, buffer.baseAddress! + filled, buffer.count - filled, off_t(offset) + off_t(filled))
        if step < 0 && errno == EINTR { continue }
        if step <= 0 { break }
        filled += step
      }
    }
  }
}

/// Identifies a file even if it has several paths.
struct FileIdentity: Hashable, Sendable {
  var device: UInt64
  var inode: UInt64

  init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }

  init(_ information: stat) { self.init(device: UInt64(information.st_dev), inode: UInt64(information.st_ino)) }
}
