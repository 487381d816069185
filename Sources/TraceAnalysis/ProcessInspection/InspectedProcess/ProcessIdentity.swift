// Whether a process is still the one that it was.

import Glibc
import TraceReading

/// A process by its number, its start and its program: the kernel gives numbers of ended processes to others.
package struct ProcessIdentity: Hashable, Sendable {
  package let processID: Int32
  /// Ticks since the machine started. Another process of the same number has begun later.
  package let startTicks: UInt64
  /// Path of the program's file; empty if it is not known.
  package let executable: String
  /// Where its first stack begins, by chance for each program that it becomes. 0 if it may not be known, and for a moment
  /// while the process becomes another program.
  let stackStart: UInt64

  /// What has become of a process.
  package enum Standing: Hashable, Sendable {
    case same
    case ended
    /// Another process has its number.
    case replaced(by: ProcessIdentity)
    /// It has become another program (`exec`), or was built anew where it runs.
    case executed(ProcessIdentity)
  }

  /// Nil if there is no such process, or if it has ended and its parent has not taken note.
  package init?(of process: Int32) {
    let stat = String(decoding: ProcFile.bytes("/proc/\(process)/stat", limit: 4096), as: UTF8.self)
    // The name, which may hold anything, ends at the last bracket; state and parent follow, the 22nd field is the start and the 28th the stack's.
    guard let end = stat.lastIndex(of: ")") else { return nil }
    let fields = stat[stat.index(after: end)...].split(separator: " ")
    guard fields.count > 19, fields[0] != "Z", fields[0] != "X", let start = UInt64(fields[19]) else { return nil }
    processID = process
    startTicks = start
    executable = Self.program(of: process)
    stackStart = fields.count > 25 ? UInt64(fields[25]) ?? 0 : 0
  }

  package var standing: Standing {
    guard let now = ProcessIdentity(of: processID) else { return .ended }
    if now.startTicks != startTicks { return .replaced(by: now) }
    return now.stackStart == stackStart && (now.executable == executable || executable.isEmpty) ? .same : .executed(now)
  }

  /// The kernel marks files that were removed since, as an update does.
  private static func program(of process: Int32) -> String {
    let bytes = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
      count = max(
        0, buffer.withMemoryRebound(to: CChar.self) { readlink("/proc/\(process)/exe", $0.baseAddress!, $0.count) })
    }
    let path = String(decoding: bytes, as: UTF8.self)
    let mark = " (deleted)"
    return path.hasSuffix(mark) ? String(path.dropLast(mark.count)) : path
  }

  /// Returns the reason for a failed attempt: the process has ended or has become another program since, or else `error`.
  package func reason(for error: InspectionError) -> InspectionError {
    if let changeMeanwhile { return changeMeanwhile }
    // In the middle of an exec, the kernel shows no threads for a moment.
    guard error == .noSuchProcess(processID), let now = ProcessIdentity(of: processID) else { return error }
    return .executedMeanwhile(processID, program: now.executable)
  }

  /// The reason for a failed attempt, if the process has ended or has become another program since. Nil if it is the
  /// same.
  package var changeMeanwhile: InspectionError? {
    switch standing {
    case .same: nil
    case .ended, .replaced: .endedMeanwhile(processID)
    case .executed(let now): .executedMeanwhile(processID, program: now.executable)
    }
  }
}
