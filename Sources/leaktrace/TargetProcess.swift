// Starts the recorded program as a child process with this process's environment, and waits for it.

import Glibc
import TraceAnalysis

/// A started program. Main thread only, and only one at a time, because it changes the signal mask.
struct TargetProcess {
  struct SpawnFailure: Error { let code: Int32 }

  let processID: Int32
  private let signals: RelayedSignals

  /// Starts the program in this process's group and session, with the same open files, directory, ignored signals and
  /// signal mask.
  init(
    program: TargetProgram, arguments: [UnsafeMutablePointer<CChar>], environment: RecordingEnvironment
  ) throws(SpawnFailure) {
    signals = RelayedSignals()
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var mask = signals.maskBefore
    posix_spawnattr_setsigmask(&attributes, &mask)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))

    var argv: [UnsafeMutablePointer<CChar>?] = arguments
    var owned: [UnsafeMutablePointer<CChar>] = []
    func copy(_ text: String) -> UnsafeMutablePointer<CChar> {
      owned.append(strdup(text))
      return owned.last!
    }
    if let shell = program.shellForScript { argv.replaceSubrange(0..<1, with: [copy(shell), copy(program.path)]) }
    argv.append(nil)
    let entries = environment.entries(inherited: Self.inheritedEnvironment())
    var envp: [UnsafeMutablePointer<CChar>?] = entries.map { entry in
      let pointer = UnsafeMutablePointer<CChar>.allocate(capacity: entry.count + 1)
      for (index, byte) in entry.enumerated() { pointer[index] = CChar(bitPattern: byte) }
      pointer[entry.count] = 0
      return pointer
    }
    envp.append(nil)
    defer {
      for pointer in envp { pointer?.deallocate() }
      for pointer in owned { free(pointer) }
    }
    var child: Int32 = 0
    let code = posix_spawn(&child, program.shellForScript ?? program.path, nil, &attributes, argv, envp)
    guard code == 0 else {
      signals.restore()
      throw SpawnFailure(code: code)
    }
    processID = child
    signals.reapChildren()
  }

  /// The environment of this process, byte for byte.
  static func inheritedEnvironment() -> [[UInt8]] {
    var result: [[UInt8]] = []
    var entry = environ
    while let text = entry.pointee {
      result.append(UnsafeRawBufferPointer(start: text, count: strlen(text)).map { $0 })
      entry += 1
    }
    return result
  }

  /// The signal mask for other programs that are started beside this one.
  var maskBefore: sigset_t { signals.maskBefore }

  /// Waits for the program to end, and relays signals until then. Returns nil if the system does not report how the
  /// program ended.
  ///
  /// - Parameters:
  ///   - tick: Returns the maximum number of seconds of the next wait for a signal; nil for no limit.
  ///   - beforeEachPause: Called before each wait for a signal, and so after each child's end.
  ///   - onSignal: Called with each signal, after it was relayed.
  func wait(
    onTick: () -> Void, tick: () -> Int?, beforeEachPause: () -> Void = {}, onSignal: (Int32) -> Void = { _ in }
  ) -> Int32? {
    var isStopped = false, wasToldToContinue = false
    while true {
      var status: Int32 = 0
      let result = waitpid(processID, &status, WNOHANG | WUNTRACED | WCONTINUED)
      if result < 0 && errno != EINTR { return nil }
      if result == processID {
        switch ProcessOutcome(waitStatus: status) {
        case .exited, .killed:
          return status
        case .stopped(let signal):
          isStopped = true
          signals.targetStopped(by: signal)
        case .continued:
          isStopped = false
        }
        continue
      }
      if wasToldToContinue {
        wasToldToContinue = false
        // The program did not get SIGCONT: it was sent to this process alone.
        if isStopped { kill(processID, SIGCONT) }
      }
      beforeEachPause()
      guard let signal = signals.next(timeout: tick()) else {
        onTick()
        continue
      }
      if signal.number == SIGCONT, isStopped {
        // Shells send SIGCONT to the whole group. First wait for the system to report that the program was continued,
        // so that it does not get a second SIGCONT.
        usleep(20_000)
        wasToldToContinue = true
      } else {
        signals.relay(signal, to: processID)
        onSignal(signal.number)
      }
    }
  }

  /// Ends this process with the target's exit status, or by the signal that killed it.
  func endAsTargetDid(waitStatus: Int32?) -> Never {
    guard let waitStatus else {
      ErrorOutput.print("the system does not say how the program ended")
      exit(RecordExitCode.failed)
    }
    switch ProcessOutcome(waitStatus: waitStatus) {
    case .exited(let code): exit(Int32(code))
    case .killed(let signal, _): signals.die(by: signal)
    case .stopped, .continued: exit(RecordExitCode.failed)
    }
  }
}
