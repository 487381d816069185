// A directory for the files of attempts.

import Glibc

/// A directory inside the given one. The deinitializer removes it with its files.
final class TrialDirectory {
  let path: String

  /// - Throws: `TrialFailure.system`.
  init(in parent: String) throws(TrialFailure) {
    var template = Array("\(parent)/.leaktrace-doctor.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw .system(errno: errno) }
    path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
  }

  deinit {
    for name in names { unlink("\(path)/\(name)") }
    rmdir(path)
  }

  /// Creates an empty file. The recorder writes messages only to a file that exists.
  ///
  /// - Throws: `TrialFailure.system`.
  func makeFile(_ name: String) throws(TrialFailure) {
    let descriptor = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .system(errno: errno) }
    close(descriptor)
  }

  private var names: [String] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var found: [String] = []
    while let entry = readdir(directory) {
      found.append(
        withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        })
    }
    return found.filter { $0 != "." && $0 != ".." }
  }

  /// Returns the recorder's first message in a file of this directory, without its sender's name; nil if there is none.
  func message(in name: String) -> String? {
    let descriptor = open("\(path)/\(name)", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    let bytes = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
      count = max(0, read(descriptor, buffer.baseAddress, buffer.count))
    }
    guard let line = bytes.split(separator: UInt8(ascii: "\n")).first else { return nil }
    var text = Substring(String(decoding: line, as: UTF8.self))
    for beginning in ["leaktrace: ", "not tracing: "] where text.hasPrefix(beginning) {
      text = text.dropFirst(beginning.count)
    }
    return String(text)
  }
}
