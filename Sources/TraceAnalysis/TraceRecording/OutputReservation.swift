// Prevents two recordings from writing to the same file at the same time.

import Glibc
import TraceReading

/// Claims the paths of traces that are known in advance, as long as this object exists. A second recording to the same
/// path is refused. Otherwise, the second recording could mistake the first recording's new trace for an old trace.
///
/// A claim is the name of a socket in the kernel's abstract namespace. No process connects to the socket. The kernel
/// removes the name when the process ends, so no file is left behind. Processes in another network namespace do not see
/// the name, but they see the live file of a trace that is being written.
package final class OutputReservation: Sendable {
  private let sockets: [Int32]

  /// - Throws: `RecordingError.outputInUse` if another recording has claimed one of the paths.
  package init(_ paths: [String]) throws(RecordingError) {
    var sockets: [Int32] = []
    for path in Set(paths).sorted() {
      guard let name = Self.name(of: path) else { continue }
      let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
      guard descriptor >= 0 else { continue }
      if Self.bind(descriptor, name) == EADDRINUSE {
        close(descriptor)
        for socket in sockets { close(socket) }
        throw .outputInUse(path: path)
      }
      sockets.append(descriptor)
    }
    self.sockets = sockets
  }

  deinit { for socket in sockets { close(socket) } }

  /// Returns the socket's name for a trace's path. The name contains the directory's device and inode, because a
  /// directory may have several paths, and a hash of the file's name. Nil if the directory does not exist.
  private static func name(of path: String) -> [UInt8]? {
    let slash = path.lastIndex(of: "/")
    let directory = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    var information = stat()
    guard stat(directory, &information) == 0 else { return nil }
    // The hash is FNV-1a. Different names only need different hashes.
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in path[(slash.map { path.index(after: $0) } ?? path.startIndex)...].utf8 {
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
    }
    return Array(
      "leaktrace-record.\(String(information.st_dev, radix: 16)).\(String(information.st_ino, radix: 16)).\(String(hash, radix: 16))"
        .utf8)
  }

  /// Binds the socket to a name. Returns the errno, or 0.
  private static func bind(_ descriptor: Int32, _ name: [UInt8]) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    // A first byte of 0 selects the abstract namespace.
    let room = MemoryLayout.size(ofValue: address.sun_path) - 1
    withUnsafeMutableBytes(of: &address.sun_path) { path in
      for (index, byte) in name.prefix(room).enumerated() { path[index + 1] = byte }
    }
    let size = MemoryLayout<sa_family_t>.size + 1 + min(name.count, room)
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.bind(descriptor, $0, socklen_t(size)) }
    }
    return result == 0 ? 0 : errno
  }
}
