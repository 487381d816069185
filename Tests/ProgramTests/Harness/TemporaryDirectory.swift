// A temporary directory for one test. It is created in TMPDIR, and removed with all its contents.

import Foundation

final class TemporaryDirectory: Sendable {
  let path: String

  init() throws {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(parent)/leaktrace-tests.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw CommandFailure("mkdtemp: \(String(cString: strerror(errno)))") }
    path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Returns the sorted names of the files in the directory.
  func fileNames() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }

  func write(_ text: String, to name: String) throws -> String {
    let file = "\(path)/\(name)"
    try FileManager.default.createDirectory(atPath: BuildProducts.parent(of: file), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    return file
  }
}
