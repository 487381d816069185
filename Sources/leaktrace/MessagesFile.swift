// The private file in which the preloaded library says why it stepped aside.

import Glibc
import TraceAnalysis

/// A file of mode 0600 in a temporary directory of its own, so that nobody else can put another in its place.
struct MessagesFile {
  let path: String
  private let directory: String

  init() throws(RecordingError) {
    let base = getenv("TMPDIR").map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
    var template = Array("\(base)/leaktrace.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw .outputDirectoryUnusable(path: base, errno: errno) }
    directory = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    path = directory + "/messages"
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      let code = errno
      rmdir(directory)
      throw .outputDirectoryUnusable(path: directory, errno: code)
    }
    close(descriptor)
  }

  /// The distinct messages so far, in order, and no more than a screenful.
  func lines() -> [String] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
      count = max(0, read(descriptor, buffer.baseAddress, buffer.count))
    }
    var seen: Set<String> = []
    let all = bytes.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
    let distinct = all.filter { seen.insert($0).inserted }
    guard distinct.count > 20 else { return distinct }
    return distinct.prefix(20) + ["and \(distinct.count - 20) more messages"]
  }

  func remove() {
    unlink(path)
    rmdir(directory)
  }
}
