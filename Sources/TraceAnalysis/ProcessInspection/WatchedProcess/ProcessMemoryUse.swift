// The memory use of a process and of its control group.

import Glibc
import TraceReading

/// Sizes in bytes, at one moment.
package struct ProcessMemoryUse: Hashable, Sendable {
  package var resident: UInt64 = 0
  /// Anonymous memory. A copy of the process shares it until the process or the copy writes to it.
  package var anonymous: UInt64 = 0
  /// The size of the page tables, which the kernel copies while the process is stopped.
  var pageTables: UInt64 = 0
  package var threads = 1
  /// The memory of the control group that limits the process; nil without a limit.
  package var group: GroupUse?

  /// The memory of a control group and its limit.
  package struct GroupUse: Hashable, Sendable {
    package var used: UInt64
    package var limit: UInt64
    package var share: Double { limit > 0 ? Double(used) / Double(limit) : 0 }
  }

  package init() {}

  /// Returns nil if there is no such process.
  package init?(of process: Int32) {
    let status = ProcFile.lines("/proc/\(process)/status")
    func size(_ name: Substring) -> UInt64? {
      status[name].flatMap { UInt64($0.prefix { $0.isNumber }) }.map { $0 << 10 }
    }
    guard let resident = size("VmRSS") else { return nil }
    self.resident = resident
    anonymous = size("RssAnon") ?? resident
    pageTables = size("VmPTE") ?? 0
    threads = status["Threads"].flatMap { Int($0) } ?? 1
    group = Self.group(
      of: String(decoding: ProcFile.bytes("/proc/\(process)/cgroup", limit: 1 << 14), as: UTF8.self),
      below: "/sys/fs/cgroup"
    ) { path in
      String(decoding: ProcFile.bytes(path, limit: 64), as: UTF8.self)
    }
  }

  /// Returns the control group that uses the largest share of its limit, among the process's own group and its
  /// ancestors. Returns nil if none has a limit.
  ///
  /// - Parameters:
  ///   - list: `/proc/PID/cgroup`.
  ///   - read: Returns the contents of a file; an empty text if there is no such file.
  static func group(of list: String, below root: String, read: (String) -> String) -> GroupUse? {
    var tightest: GroupUse?
    for line in list.split(separator: "\n") {
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3 else { continue }
      let isUnified = fields[0] == "0" && fields[1].isEmpty
      guard isUnified || fields[1].split(separator: ",").contains("memory") else { continue }
      let (mount, used, most) =
        isUnified
        ? (root, "memory.current", "memory.max")
        : (root + "/memory", "memory.usage_in_bytes", "memory.limit_in_bytes")
      var path = fields[2][...]
      while true {
        let folder = mount + (path == "/" ? "" : String(path)) + "/"
        if let limit = number(read(folder + most)), limit < unlimited, let use = number(read(folder + used)) {
          let group = GroupUse(used: use, limit: limit)
          if tightest.map({ group.share > $0.share }) ?? true { tightest = group }
        }
        guard path.count > 1, let slash = path.lastIndex(of: "/") else { break }
        path = slash == path.startIndex ? "/" : path[..<slash]
      }
    }
    return tightest
  }

  private static func number(_ text: String) -> UInt64? { UInt64(text.prefix { $0.isNumber }) }

  /// A limit of this value or more means no limit. For no limit, cgroup version 1 reports the largest multiple of the
  /// page size.
  private static let unlimited: UInt64 = 1 << 62
}
