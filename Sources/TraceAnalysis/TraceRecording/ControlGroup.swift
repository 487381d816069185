// What the kernel allows the group of processes that this one is in.

import Glibc

package enum ControlGroup {
  /// The least limit of memory of this process's control group and those above it, in bytes; nil if there is none.
  /// Version 2 and version 1 (Linux, Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst).
  package static func memoryLimit(root: String = "/sys/fs/cgroup", membership: String = "/proc/self/cgroup") -> UInt64?
  {
    var limits: [UInt64] = []
    for line in text(membership).split(separator: "\n") {
      // NUMBER:CONTROLLERS:PATH; version 2 has no controllers.
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3 else { continue }
      let isVersion2 = fields[1].isEmpty
      guard isVersion2 || fields[1].split(separator: ",").contains("memory") else { continue }
      let (folder, file) = isVersion2 ? (root, "memory.max") : (root + "/memory", "memory.limit_in_bytes")
      var path = fields[2]
      while true {
        let number = text("\(folder)\(path == "/" ? "" : path)/\(file)").prefix { $0.isASCII && $0.isNumber }
        // Version 1 says so many pages as there can be where it has no limit.
        if let limit = UInt64(number), limit < 1 << 60 { limits.append(limit) }
        guard path.count > 1, let slash = path.lastIndex(of: "/") else { break }
        path = path[..<slash]
      }
    }
    return limits.min()
  }

  /// Empty if there is no such file. These are a few lines.
  private static func text(_ path: String) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 14) { buffer, count in
      count = max(0, read(descriptor, buffer.baseAddress, buffer.count))
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
