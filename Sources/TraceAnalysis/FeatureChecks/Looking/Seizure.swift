// Traces a process without stopping it.

import Glibc
import ProcessInspection

/// Tests whether the kernel lets this process trace another. The other process keeps running: PTRACE_SEIZE stops
/// nothing, and the kernel ends the trace when the tracing thread exits.
enum Seizure {
  /// A request number of Linux, include/uapi/linux/ptrace.h.
  private static let seize: Int32 = 0x4206

  /// ptrace, which Swift's module for the C library lacks. The system call has the same arguments.
  private typealias Trace = @convention(c) (Int32, Int32, UInt, UInt) -> Int
  private static let trace = dlsym(nil, "ptrace").map { unsafeBitCast($0, to: Trace.self) }

  private static let patienceMilliseconds = 1000

  private final class Question {
    let process: Int32
    var answer: Int32 = ENOSYS
    init(_ process: Int32) { self.process = process }
  }

  /// Returns 0, or the kernel's errno. Blocks until tracing has ended.
  static func attempt(_ process: Int32) -> Int32 {
    let question = Question(process)
    var thread = pthread_t()
    let code = pthread_create(
      &thread, nil,
      { context in
        let question = Unmanaged<Question>.fromOpaque(context!).takeUnretainedValue()
        guard let trace = Seizure.trace else { return nil }
        question.answer = trace(Seizure.seize, question.process, 0, 0) == 0 ? 0 : errno
        return nil
      }, Unmanaged.passUnretained(question).toOpaque())
    guard code == 0 else { return code }
    pthread_join(thread, nil)
    guard question.answer == 0 else { return question.answer }
    // pthread_join returns shortly before the kernel ends the thread's traces.
    for _ in 0..<patienceMilliseconds {
      guard ProcFile.lines("/proc/\(process)/status")["TracerPid"] == "\(getpid())" else { break }
      usleep(1_000)
    }
    return 0
  }
}
