// Reasons why a process or a core file cannot be inspected.

import TextWriting
import TraceReading

/// A reason why an inspection failed.
package enum InspectionError: Error, Hashable, Sendable {
  case noSuchProcess(Int32)
  /// The system refused access with this `errno`.
  case processRefused(Int32, errno: Int32)
  /// A process that cannot be inspected, and the reason.
  case unsuitable(Int32, Unsuitability)
  case endedMeanwhile(Int32)
  case executedMeanwhile(Int32, program: String)
  /// The process may be traced, but copying it failed.
  case cannotCopy(Int32, CopyFailure, errno: Int32)
  case cannotOpen(path: String, errno: Int32)
  case notACore(path: String)
  /// A core of a machine that is neither 64-bit x86 nor arm64. The number is ELF's `e_machine`.
  case otherMachine(path: String, machine: UInt16)
  /// A core without the memory that holds the allocator's metadata.
  case cutShort(path: String)
  /// A core with an unsupported compression.
  case packed(path: String, CorePacking)
  /// A compressed core that is too large to unpack here.
  case cannotUnpack(path: String, directory: String, errno: Int32)
  /// A damaged core with more items of a kind than any process has.
  case beyondLimit(path: String, what: String)
  /// The memory has neither metadata of a known allocator nor Swift objects.
  case noAllocator
  /// The memory has no Swift object.
  case noSwift

  package enum Unsuitability: Hashable, Sendable {
    case ended, firstThreadEnded, kernelThread, otherMachine
    /// Another process, such as a debugger, already traces the process.
    case traced(by: Int32)
  }

  package enum CopyFailure: Hashable, Sendable { case noCall(CopyObstacle), filtered, cloning, guardian }

  /// The obstacle that stopped the last of many attempts.
  package enum CopyObstacle: Hashable, Sendable { case otherProgram, noStop, noPlace, noProcessor, slowKernel, unknown }
}

extension InspectionError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .noSuchProcess(let process): "there is no process \(process): look up its ID with ps"
    case .processRefused(let process, let errno):
      "process \(process) may not be traced (\(systemErrorText(errno))). " + TracingRights.advice(process: process)
    case .unsuitable(let process, .ended):
      "process \(process) has ended, and its parent has not waited for it yet: its memory is gone"
    case .unsuitable(let process, .firstThreadEnded):
      "the first thread of process \(process) has ended, and the kernel shows the process's memory by that thread alone. Record the program from its start: leaktrace record -- PROGRAM"
    case .endedMeanwhile(let process): "process \(process) ended while leaktrace looked at it"
    case .executedMeanwhile(let process, let program):
      "process \(process) became another program while leaktrace looked at it (\(PlainText.escaped(program))). Try again"
    case .unsuitable(let process, .kernelThread):
      "process \(process) is a kernel thread, and has no memory of its own. Give the ID of a program's process"
    case .unsuitable(let process, .otherMachine):
      "process \(process) is not a 64-bit \(Processor.own == .arm64 ? "arm64" : "x86") program, and leaktrace inspects only those"
    case .unsuitable(let process, .traced(let tracer)):
      "process \(process) is being traced by process \(tracer) already, and can have one tracer only: end that one first"
    case .cannotCopy(let process, .filtered, _):
      "process \(process) limits its system calls, so that only root (CAP_SYS_ADMIN) may have it copied. Run leaktrace as root, or stop the process while it is read, with --hold"
    case .cannotCopy(let process, .noCall(let obstacle), _):
      "process \(process) could not be copied: \(obstacle.text). Try again, or stop the process while it is read, with --hold"
    case .cannotCopy(let process, .cloning, let errno):
      "process \(process) could not be copied (\(systemErrorText(errno))). Stop it while it is read instead, with --hold"
    case .cannotCopy(_, .guardian, let errno):
      "the process that makes the copy could not be started (\(systemErrorText(errno)))"
    case .cannotOpen(let path, let errno): "\(PlainText.escaped(path)) cannot be read: \(systemErrorText(errno))"
    case .notACore(let path):
      "\(PlainText.escaped(path)) is not a core file. Give the ID of a process, or a file that gcore or the kernel wrote"
    case .otherMachine(let path, let machine):
      "\(PlainText.escaped(path)) is a core file of another machine (ELF number \(machine)), neither of x86-64 nor of arm64"
    case .cutShort(let path):
      "\(PlainText.escaped(path)) is cut short, or was written in part: it lacks the metadata of the allocator. Have all of its private memory written: check the limit on core files (ulimit -c), the disk's free space, and bit 0 of /proc/PID/coredump_filter"
    case .packed(let path, let packing):
      "\(PlainText.escaped(path)) is compressed by \(packing.rawValue), which leaktrace does not read. Unpack it first, with '\(packing.rawValue) -dc' or, if systemd keeps it, with 'coredumpctl dump -o FILE'"
    case .cannotUnpack(let path, let directory, let errno):
      "\(PlainText.escaped(path)) cannot be unpacked into \(PlainText.escaped(directory)) (\(systemErrorText(errno))). Name another directory with -o"
    case .beyondLimit(let path, let what): "\(PlainText.escaped(path)) is damaged: it has too many \(what)"
    case .noSwift:
      "no Swift object is in the memory, and leaktrace inspects programs that are written in Swift. Check with ps whether this is the right process"
    case .noAllocator:
      "the memory has neither metadata of an allocator that leaktrace knows (glibc's, jemalloc 5, gperftools' tcmalloc, mimalloc) nor Swift objects: the process has not called malloc, or is not written in C or Swift (Go has its own allocator). If you can restart it, record it: leaktrace record -- PROGRAM"
    }
  }
}

extension InspectionError.CopyObstacle {
  fileprivate var text: String {
    switch self {
    case .otherProgram: "it became another program again and again"
    case .noStop: "none of its threads stopped in time. They wait for a device, or the machine is very busy"
    case .noPlace: "in each of many tries, a thread was at a place where it must not be interrupted"
    case .noProcessor: "its threads got no processor in time. The machine is very busy"
    case .slowKernel: "the kernel took over a second for each copy. The machine is very busy, or short of memory"
    case .unknown: "the copy could not be made"
    }
  }
}
