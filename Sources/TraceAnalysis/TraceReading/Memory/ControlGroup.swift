// The kernel's limits for the control group of this process.

package enum ControlGroup {
  /// Returns the lowest memory limit of this process's control group and of the groups above it, in bytes; nil if there
  /// is no limit. Supports versions 2 and 1 (Linux, Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst).
  package static func memoryLimit(root: String = "/sys/fs/cgroup", membership: String = "/proc/self/cgroup") -> UInt64?
  {
    var limits: [UInt64] = []
    for line in SystemFile.text(membership).split(separator: "\n") {
      // A line is NUMBER:CONTROLLERS:PATH. In version 2, the list of controllers is empty.
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3 else { continue }
      let isVersion2 = fields[1].isEmpty
      guard isVersion2 || fields[1].split(separator: ",").contains("memory") else { continue }
      let (folder, file) = isVersion2 ? (root, "memory.max") : (root + "/memory", "memory.limit_in_bytes")
      var path = fields[2]
      while true {
        let number = SystemFile.text("\(folder)\(path == "/" ? "" : path)/\(file)").prefix { $0.isASCII && $0.isNumber }
        // If there is no limit, version 1 shows the highest possible number of pages, in bytes.
        if let limit = UInt64(number), limit < 1 << 60 { limits.append(limit) }
        guard path.count > 1, let slash = path.lastIndex(of: "/") else { break }
        path = path[..<slash]
      }
    }
    return limits.min()
  }
}
