// A control group with a memory limit, for programs to run in.

import Foundation
import Glibc

/// A control group below this process's own, of version 1 or 2. The group is removed with this object, once all its
/// processes have ended.
final class MemoryControlGroup {
  private let path: String

  /// Whether this process can make a control group: it must be root, and the machine or the container must allow it.
  static let isAvailable: Bool = (try? MemoryControlGroup(limit: 1 << 30)) != nil

  private struct Unavailable: Error {}

  /// Creates a group with a limit in bytes. Throws if no group can be made.
  init(limit: UInt64) throws {
    let own = try String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8)
    // Lines have the form NUMBER:CONTROLLERS:PATH. In version 2 CONTROLLERS is empty.
    func place(_ controllers: String) -> String? {
      for line in own.split(separator: "\n") {
        let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        if fields.count == 3, fields[1] == controllers { return fields[2] == "/" ? "" : fields[2] }
      }
      return nil
    }
    var parents: [(path: String, file: String)] = []
    if let path = place("memory") { parents.append(("/sys/fs/cgroup/memory" + path, "memory.limit_in_bytes")) }
    if let path = place("") { parents.append(("/sys/fs/cgroup" + path, "memory.max")) }
    for (parent, file) in parents {
      let path = "\(parent)/leaktrace-test-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
      guard mkdir(path, 0o755) == 0 else { continue }
      if FileManager.default.fileExists(atPath: "\(path)/\(file)"), Self.write("\(limit)", "\(path)/\(file)") {
        self.path = path
        return
      }
      rmdir(path)
    }
    throw Unavailable()
  }

  deinit {
    // The group's processes may still be exiting.
    for _ in 0..<100 where rmdir(path) != 0 && errno == EBUSY { usleep(20_000) }
  }

  /// Arguments to put before a command, so that the command runs in the group.
  var command: [String] { ["/bin/sh", "-c", "echo $$ >\"$0\" && exec \"$@\"", path + "/cgroup.procs"] }

  private static func write(_ text: String, _ path: String) -> Bool {
    let descriptor = open(path, O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return Glibc.write(descriptor, text, text.utf8.count) == text.utf8.count
  }
}
