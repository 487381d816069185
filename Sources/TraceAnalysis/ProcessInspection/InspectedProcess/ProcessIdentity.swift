// Detects whether a process number still refers to the same process and program.

import Glibc
import TraceReading

/// Identifies a process by its number, its start time and its program, since the kernel reuses numbers of exited
/// processes.
package struct ProcessIdentity: Hashable, Sendable {
  package let processID: Int32
  /// Ticks since the machine started. A later process with the same number has a later start.
  let startTicks: UInt64
  /// Path of the program's file; empty if it is not known.
  package let executable: String
  /// Start address of the main thread's stack, which is random for each exec. 0 if the kernel does not show it, and
  /// briefly during an exec.
  let stackStart: UInt64

  /// The present state of the process that was identified.
  package enum Standing: Hashable, Sendable {
    case same
    case ended
    /// Another process now has the number.
    case replaced(by: ProcessIdentity)
    /// The process has called `exec`, with another program or with the same one.
    case executed(ProcessIdentity)
  }

  /// Returns nil if there is no such process, or if it is a zombie.
  package init?(of process: Int32) {
    let stat = String(decoding: ProcFile.bytes("/proc/\(process)/stat", limit: 4096), as: UTF8.self)
    // The name may contain anything; it ends at the last parenthesis. State and parent follow. The 22nd field is the
    // start of the process, and the 28th is the start of the stack.
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

  /// Returns the path of the process's program. Removes the kernel's mark for a deleted file, for example one that an
  /// update deleted.
  private static func program(of process: Int32) -> String {
    let bytes = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
      count = max(
        0, buffer.withMemoryRebound(to: CChar.self) { readlink("/proc/\(process)/exe", $0.baseAddress!, $0.count) })
    }
    let path = String(decoding: bytes, as: UTF8.self)
    let mark = " (deleted)"
    return path.hasSuffix(mark) ? String(path.dropLast(mark.count)) : path
  }

  /// Returns the reason for a failed attempt. That is `error`, unless the process has exited or executed another
  /// program since.
  package func reason(for error: InspectionError) -> InspectionError {
    if let changeMeanwhile { return changeMeanwhile }
    // During an exec, the kernel shows no threads for a moment.
    guard error == .noSuchProcess(processID), let now = ProcessIdentity(of: processID) else { return error }
    return .executedMeanwhile(processID, program: now.executable)
  }

  /// The reason for a failed attempt, if the process has exited or executed another program since; otherwise nil.
  package var changeMeanwhile: InspectionError? {
    switch standing {
    case .same: nil
    case .ended, .replaced: .endedMeanwhile(processID)
    case .executed(let now): .executedMeanwhile(processID, program: now.executable)
    }
  }
}
