// The private file for the preloaded library's messages, such as why it did not record a process.

import Glibc
import TraceAnalysis

/// A file of mode 0600 in its own temporary directory, so that no other user can replace the file. The directory is
/// below TMPDIR if possible, else in /tmp, else beside the traces.
struct MessagesFile {
  let path: String
  private let directory: String

  /// The beginning of the library's messages. It is removed here, because `ErrorOutput` adds the same words.
  private static let sender = "leaktrace: "

  /// - Parameter outputDirectory: The directory of the traces.
  init(outputDirectory: String) throws(RecordingError) {
    guard let made = TemporaryDirectory.make(besides: [outputDirectory]) else {
      throw .outputDirectoryUnusable(path: outputDirectory, errno: errno)
    }
    directory = made
    path = directory + "/messages"
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      let code = errno
      rmdir(directory)
      throw .outputDirectoryUnusable(path: directory, errno: code)
    }
    close(descriptor)
  }

  /// Returns the distinct messages so far, in order and without `sender`. Shortens the list to a screenful.
  func lines() -> [String] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
      count = max(0, read(descriptor, buffer.baseAddress, buffer.count))
    }
    var seen: Set<String> = []
    let all = bytes.split(separator: UInt8(ascii: "\n")).map {
      let line = String(decoding: $0, as: UTF8.self)
      return line.hasPrefix(Self.sender) ? String(line.dropFirst(Self.sender.count)) : line
    }
    let distinct = all.filter { seen.insert($0).inserted }
    guard distinct.count > 20 else { return distinct }
    return distinct.prefix(20) + ["and \(distinct.count - 20) more messages"]
  }

  func remove() {
    unlink(path)
    rmdir(directory)
  }
}
