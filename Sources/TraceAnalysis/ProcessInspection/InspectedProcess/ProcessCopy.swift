// A running process as it was at one moment.

import CProcessCalls
import Glibc
import TraceReading

/// A copy of a process, or the process itself, stopped. The copy exists, or the process stays stopped, until `end` is
/// called or this object is freed.
///
/// If this process exits or crashes first, a guardian process resumes the stopped process.
package final class ProcessCopy {
  package let memory: LiveProcessMemory
  /// The main thread comes first. Threads that did not stop in time are left out.
  package let threads: [InspectedThread]
  /// The number of threads that did not stop. Objects that only these threads refer to look lost.
  let missingThreads: Int
  /// Nanoseconds that the process was stopped for the copy; 0 if the process stays stopped.
  package let pauseNanoseconds: UInt64
  private var copy = lt_process_copy()

  /// Stops a process briefly and copies it.
  ///
  /// - Parameter holds: If true, makes no copy, but stops the process until `end` is called.
  package init(of process: Int32, holds: Bool = false) throws(InspectionError) {
    let before = ProcessIdentity(of: process)
    try TracingRights.check(process)
    var copy = lt_process_copy()
    var options = lt_copy_options()
    options.mode = holds ? LT_COPY_MODE_HOLD : LT_COPY_MODE_COPY
    let result = lt_process_copy_begin(process, &options, &copy)
    if result != 0 {
      let error = Self.error(result, copy, process)
      throw before?.reason(for: error) ?? error
    }
    do throws(InspectionError) {
      memory = try LiveProcessMemory(processID: copy.memory)
    } catch {
      _ = lt_process_copy_end(&copy)
      throw error
    }
    let all = UnsafeBufferPointer(start: copy.threads, count: copy.threadCount)
    var threads = all.filter { $0.state != LT_THREAD_NOT_MET.rawValue }.map(InspectedThread.init)
    if let main = threads.firstIndex(where: { $0.threadID == process }) { threads.swapAt(0, main) }
    if Self.ownNumber(of: process, in: process) != 0 {
      for index in threads.indices {
        threads[index].ownNumber = Self.ownNumber(of: threads[index].threadID, in: process)
      }
    }
    self.threads = threads
    missingThreads = all.count - threads.count
    pauseNanoseconds = copy.pauseNanoseconds
    self.copy = copy
  }

  deinit { end() }

  /// Returns a thread's number in its own PID namespace. 0 if that is this process's namespace, or if the number is not
  /// known.
  private static func ownNumber(of thread: Int32, in process: Int32) -> UInt64 {
    let numbers = ProcFile.lines("/proc/\(process)/task/\(thread)/status")["NSpid"]?.split(separator: "\t") ?? []
    return numbers.count > 1 ? numbers.last.flatMap { UInt64($0) } ?? 0 : 0
  }

  /// Ends the copy, or resumes the process. Returns when that is done.
  package func end() { _ = lt_process_copy_end(&copy) }

  private static func error(_ result: Int32, _ copy: lt_process_copy, _ process: Int32) -> InspectionError {
    guard result > 0 else { return .cannotCopy(process, .guardian, errno: -result) }
    return switch lt_copy_error(UInt32(result)) {
    case LT_COPY_GONE: .noSuchProcess(process)
    case LT_COPY_ZOMBIE: .unsuitable(process, .ended)
    case LT_COPY_KERNEL_THREAD: .unsuitable(process, .kernelThread)
    case LT_COPY_NOT_ALLOWED: .processRefused(process, errno: EPERM)
    case LT_COPY_TRACED: .unsuitable(process, .traced(by: copy.tracer))
    case LT_COPY_OTHER_MACHINE: .unsuitable(process, .otherMachine)
    case LT_COPY_FILTERED: .cannotCopy(process, .filtered, errno: 0)
    case LT_COPY_NO_CALL: .cannotCopy(process, .noCall(.init(copy.reason)), errno: 0)
    case LT_COPY_REFUSED: .cannotCopy(process, .cloning, errno: copy.reason)
    default: .cannotCopy(process, .guardian, errno: ECHILD)
    }
  }
}

extension InspectionError.CopyObstacle {
  fileprivate init(_ reason: Int32) {
    self =
      switch lt_copy_obstacle(UInt32(bitPattern: reason)) {
      case LT_OBSTACLE_OTHER_PROGRAM: .otherProgram
      case LT_OBSTACLE_STOP: .noStop
      case LT_OBSTACLE_PLACE: .noPlace
      case LT_OBSTACLE_PROCESSOR: .noProcessor
      case LT_OBSTACLE_KERNEL: .slowKernel
      default: .unknown
      }
  }
}

extension InspectedThread {
  fileprivate init(_ thread: lt_copied_thread) {
    let layout = RegisterLayout(.own)
    var registers = [UInt64](repeating: 0, count: layout.count)
    withUnsafeBytes(of: thread.general) { bytes in
      for (place, value) in zip(layout.dwarf, bytes.bindMemory(to: UInt64.self)) { registers[place] = value }
    }
    registers[layout.programCounter] = thread.programCounter
    self.init(
      threadID: thread.thread, registers: registers, processor: .own, threadPointer: thread.threadPointer)
    activity =
      thread.call < 0
      ? .computing : .inCall(UInt64(thread.call), waits: Self.interruptions.contains(thread.result))
    name = withUnsafeBytes(of: thread.name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}
