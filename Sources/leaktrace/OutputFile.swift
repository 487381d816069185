// Writes files atomically: a reader finds either the old file or the complete new one.

import Glibc

enum OutputFile {
  struct Failure: Error { let errno: Int32 }

  /// Creates or replaces a regular file: writes a new file in the same directory, and renames it. If the path is a
  /// symbolic link, replaces the link's target and keeps the link. Keeps permissions; a new file gets the permissions
  /// that the umask allows. Writes directly to anything that is not a regular file, such as a pipe or /dev/stdout.
  static func write(_ text: String, to path: String) throws(Failure) { try write(Array(text.utf8), to: path) }

  /// Writes bytes in the same way.
  static func write(_ bytes: [UInt8], to path: String) throws(Failure) {
    guard isReplaced(path) else { return try writeThrough(bytes, path) }
    try replace(path) { _, descriptor in put(bytes, descriptor) }
  }

  /// True if the path is a regular file or does not exist yet. False for paths in /dev and /proc: such a path may be
  /// the process's own output, a file with contents that must stay.
  static func isReplaced(_ path: String) -> Bool {
    if path.hasPrefix("/dev/") || path.hasPrefix("/proc/") { return false }
    var information = stat()
    return stat(path, &information) != 0 || information.st_mode & S_IFMT == S_IFREG
  }

  /// Replaces or creates a file that `isReplaced`. `fill` gets the path and the descriptor of a new, empty file, and
  /// returns 0 or an `errno`. If it fails, the old file stays.
  static func replace(_ path: String, _ fill: (_ temporary: String, _ descriptor: Int32) -> Int32) throws(Failure) {
    var information = stat()
    let exists = stat(path, &information) == 0
    let target = resolved(path)
    var template = Array("\(target).XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { throw Failure(errno: errno) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    let temporary = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    var failure: Int32 = 0
    let mask = umask(0)
    umask(mask)
    if fchmod(descriptor, exists ? information.st_mode & 0o7777 : 0o666 & ~mask) != 0 { failure = errno }
    // Keep the owner of the old file, if that is allowed.
    if exists, information.st_uid != geteuid() || information.st_gid != getegid() {
      _ = fchown(descriptor, information.st_uid, information.st_gid)
    }
    if failure == 0 { failure = fill(temporary, descriptor) }
    if failure == 0, fsync(descriptor) != 0 { failure = errno }
    close(descriptor)
    if failure == 0, rename(temporary, target) != 0 { failure = errno }
    if failure != 0 {
      unlink(temporary)
      throw Failure(errno: failure)
    }
  }

  private static func resolved(_ path: String) -> String {
    guard let real = realpath(path, nil) else { return path }
    defer { free(real) }
    return String(cString: real)
  }

  private static func writeThrough(_ bytes: [UInt8], _ path: String) throws(Failure) {
    let descriptor = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
    guard descriptor >= 0 else { throw Failure(errno: errno) }
    defer { close(descriptor) }
    let failure = put(bytes, descriptor)
    if failure != 0 { throw Failure(errno: failure) }
  }

  private static func put(_ bytes: [UInt8], _ descriptor: Int32) -> Int32 {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return count < 0 ? errno : EIO }
      rest = rest.dropFirst(count)
    }
    return 0
  }
}
