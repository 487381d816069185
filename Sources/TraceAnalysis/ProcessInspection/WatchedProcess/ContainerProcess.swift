// Finds the main process of a container, without asking a container daemon.

import Glibc
import TextWriting
import TraceReading

/// Resolves a container's name to a process.
package enum ContainerProcess {
  package enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
    case none(String)
    case several(String, [Int32])

    package var description: String {
      switch self {
      case .none(let name):
        "no process is in a container or control group \(PlainText.escaped(name)): give a process ID, the ID of a container (12 digits or more), or a path below /sys/fs/cgroup"
      case .several(let name, let processes):
        "\(PlainText.escaped(name)) has several main processes: give the ID of one, such as \(processes.prefix(4).map(String.init).joined(separator: ", "))"
      }
    }
  }

  /// A process, with the facts that show whether it is the first process of its container.
  struct Candidate: Hashable {
    var process: Int32
    var parent: Int32
    var startTicks: UInt64
    /// Whether the process is number 1 in its own PID namespace.
    var isFirst: Bool
  }

  /// Resolves a process number, a container ID, or the path of a control group to a process.
  package static func resolve(_ target: String) throws(Failure) -> Int32 {
    if let process = Int32(target), process > 0 { return process }
    let root = "/sys/fs/cgroup"
    let path = target.hasPrefix(root + "/") ? String(target.dropFirst(root.count)) : target
    let isPath = path.hasPrefix("/")
    // Container tools print only the first digits of an ID, so accept a prefix.
    guard isPath || target.count >= minDigits && target.allSatisfy(\.isHexDigit) else { throw .none(target) }
    let members = all().filter { process in
      let list = String(decoding: ProcFile.bytes("/proc/\(process)/cgroup", limit: 1 << 14), as: UTF8.self)
      return isMember(list, of: isPath ? path : target, isPath: isPath)
    }
    return try main(of: members.compactMap(candidate), name: target)
  }

  private static let minDigits = 12

  /// - Parameter list: `/proc/PID/cgroup`.
  static func isMember(_ list: String, of target: String, isPath: Bool) -> Bool {
    let target = target.hasSuffix("/") && target.count > 1 ? String(target.dropLast()) : target
    return list.split(separator: "\n").contains { line in
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3 else { return false }
      if isPath { return fields[2] == target || fields[2].hasPrefix(target + "/") }
      // `/docker/ID`, `docker-ID.scope`, `cri-containerd-ID.scope`.
      return fields[2].split(separator: "/").contains { part in
        part.split(whereSeparator: { $0 == "-" || $0 == "." || $0 == ":" }).contains { $0.hasPrefix(target) }
      }
    }
  }

  /// Returns the process that started the container. This is number 1 of its PID namespace or, failing that, the
  /// process whose parent is not in the container.
  static func main(of members: [Candidate], name: String) throws(Failure) -> Int32 {
    let first = members.filter(\.isFirst)
    if first.count == 1 { return first[0].process }
    let all = Set(members.map(\.process))
    let heads = (first.isEmpty ? members : first).filter { !all.contains($0.parent) || !first.isEmpty }
      .sorted { ($0.startTicks, $0.process) < ($1.startTicks, $1.process) }
    guard let head = heads.first else { throw .none(name) }
    if heads.count > 1 { throw .several(name, heads.map(\.process)) }
    return head.process
  }

  private static func all() -> [Int32] {
    guard let directory = opendir("/proc") else { return [] }
    defer { closedir(directory) }
    var found: [Int32] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if let process = Int32(name) { found.append(process) }
    }
    return found.sorted()
  }

  private static func candidate(_ process: Int32) -> Candidate? {
    guard let identity = ProcessIdentity(of: process) else { return nil }
    let status = ProcFile.lines("/proc/\(process)/status")
    let inner = status["NSpid"]?.split(whereSeparator: { $0 == "\t" || $0 == " " }) ?? []
    return Candidate(
      process: process, parent: status["PPid"].flatMap { Int32($0) } ?? 0, startTicks: identity.startTicks,
      isFirst: inner.count > 1 && inner.last == "1")
  }
}
