// A directory whose files are visible to this process and to the attached process.

import Glibc
import TraceRecording

/// Holds the file for the recorder's messages. If the process cannot read this installation, also holds a copy of the
/// library. Only the process's user can access the directory. `remove` deletes the directory. Messages that the
/// recorder writes after that are lost.
struct SharedDirectory {
  /// The path in the process's view.
  let path: String
  private let ownPath: String
  /// The path of the library's copy in the process's view; nil if there is no copy.
  private(set) var libraryCopy: String?

  var messagesPath: String { path + "/messages" }

  private static let place = "/tmp"

  init(for view: TargetView, copying library: PreloadLibrary?) throws(AttachmentError) {
    let base = view.ownPath(Self.place)
    var template = Array("\(base)/leaktrace.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw .noDirectory(view.processID, path: base, errno: errno)
    }
    ownPath = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    path = Self.place + ownPath.dropFirst(base.count)
    let messages = open(ownPath + "/messages", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if messages >= 0 { close(messages) }
    var files = [ownPath, ownPath + "/messages"]
    if let library, Self.copy(library.path, to: "\(ownPath)/\(PreloadLibrary.fileName)") {
      libraryCopy = "\(path)/\(PreloadLibrary.fileName)"
      files.append("\(ownPath)/\(PreloadLibrary.fileName)")
    }
    if view.userID != geteuid() || view.groupID != getegid() {
      // Only root can get here: all other users attach to their own processes.
      for file in files { _ = chown(file, view.userID, view.groupID) }
    }
  }

  private static func copy(_ source: String, to destination: String) -> Bool {
    let from = open(source, O_RDONLY | O_CLOEXEC)
    guard from >= 0 else { return false }
    defer { close(from) }
    let to = open(destination, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o500)
    guard to >= 0 else { return false }
    defer { close(to) }
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(from, &buffer, buffer.count)
      guard count >= 0 else { return false }
      if count == 0 { return true }
      guard write(to, buffer, count) == count else { return false }
    }
  }

  /// The recorder's messages so far, without the sender's name.
  func messages() -> [String] {
    let descriptor = open(ownPath + "/messages", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 14) { buffer, count in
      count = max(0, read(descriptor, buffer.baseAddress, buffer.count))
    }
    return bytes.split(separator: UInt8(ascii: "\n")).map {
      var text = Substring(String(decoding: $0, as: UTF8.self))
      for beginning in ["leaktrace: ", "not tracing: "] where text.hasPrefix(beginning) {
        text = text.dropFirst(beginning.count)
      }
      return String(text)
    }
  }

  func removeLibrary() { unlink("\(ownPath)/\(PreloadLibrary.fileName)") }

  func remove() {
    removeLibrary()
    unlink(ownPath + "/messages")
    rmdir(ownPath)
  }
}
