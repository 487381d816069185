// Checks whether a process can be inspected, and gives advice if it cannot.

import Glibc
import TraceReading

package enum TracingRights {
  /// Throws if a process cannot be inspected. Some obstacles are not visible in advance and appear only during the
  /// inspection.
  package static func check(_ process: Int32) throws(InspectionError) {
    guard kill(process, 0) == 0 || errno == EPERM else { throw .noSuchProcess(process) }
    let status = ProcFile.lines("/proc/\(process)/status")
    if let state = status["State"], state.hasPrefix("Z") || state.hasPrefix("X") {
      let threads = status["Threads"].flatMap { Int($0) } ?? 1
      throw .unsuitable(process, threads > 1 ? .firstThreadEnded : .ended)
    }
    if status["Pid"] != nil, status["VmSize"] == nil { throw .unsuitable(process, .kernelThread) }
    if let tracer = status["TracerPid"].flatMap({ Int32($0) }), tracer > 0 {
      throw .unsuitable(process, .traced(by: tracer))
    }
    let head = ProcFile.bytes("/proc/\(process)/exe", limit: 20)
    if head.count == 20, head.starts(with: [0x7F, 0x45, 0x4C, 0x46]),
      head[4] != ELFCLASS64 || UInt16(head[18]) | UInt16(head[19]) << 8 != Processor.own.rawValue
    {
      throw .unsuitable(process, .otherMachine)
    }
  }

  /// Returns a sentence of advice for a user who may not trace the process.
  static func advice(process: Int32) -> String {
    let status = ProcFile.lines("/proc/\(process)/status")
    let owner = status["Uid"].flatMap { UInt32($0.prefix { $0.isNumber }) }
    if geteuid() == 0 { return "In a container, give it the capability SYS_PTRACE (docker run --cap-add SYS_PTRACE)" }
    if let owner, owner != geteuid() {
      return "It belongs to the user with the number \(owner): run leaktrace as that user or as root"
    }
    let scope = String(
      decoding: ProcFile.bytes("/proc/sys/kernel/yama/ptrace_scope", limit: 2).prefix { $0 != 10 }, as: UTF8.self)
    if let scope = Int(scope), scope > 0 {
      return "kernel.yama.ptrace_scope is \(scope): run leaktrace as root, or give it the capability CAP_SYS_PTRACE"
    }
    return "It has rights that this user has not: run leaktrace as root"
  }
}

/// Reads small files and links in /proc.
package enum ProcFile {
  /// Reads at most `limit` bytes of a file. Returns nothing if there is no such file.
  package static func bytes(_ path: String, limit: Int) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    return [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
      count = max(0, read(descriptor, buffer.baseAddress, buffer.count))
    }
  }

  /// Reads a file of any size. Stops at its end, or after `most` bytes.
  package static func bytes(_ path: String, upTo most: Int) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var all: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while all.count < most {
      let count = read(descriptor, &piece, piece.count)
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { break }
      all += piece[..<count]
    }
    return all
  }

  /// Returns the target of a link; empty if there is no such link.
  package static func target(ofLink path: String) -> String {
    let bytes = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
      count = max(0, buffer.withMemoryRebound(to: CChar.self) { readlink(path, $0.baseAddress!, $0.count) })
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns the values in a file with lines of the form `Name:\tvalue`, by their names.
  package static func lines(_ path: String) -> [Substring: Substring] {
    var values: [Substring: Substring] = [:]
    for line in String(decoding: bytes(path, limit: 1 << 14), as: UTF8.self).split(separator: "\n") {
      guard let colon = line.firstIndex(of: ":") else { continue }
      values[line[..<colon]] = line[line.index(after: colon)...].drop { $0 == "\t" || $0 == " " }
    }
    return values
  }
}
