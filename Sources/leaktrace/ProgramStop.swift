// Ends a program whose load has ended: takes heap images, sends SIGTERM, and sends SIGKILL to processes that do not
// end.

import Glibc
import TraceAnalysis

/// Stops the recorded program of `check --until`, and the recorded processes that it leaves behind. Main thread only.
final class ProgramStop {
  /// Seconds that a process may take to end after SIGTERM, unless the user chooses another time.
  static let usualTimeout = 60.0
  /// Seconds that a process may take to write its heap image.
  private static let imageSeconds = 60
  /// Seconds that the kernel may take to end a process after SIGKILL.
  private static let killSeconds = 10.0

  private let session: RecordingSession
  private let choice: CheckedProcesses
  private let targetID: Int32
  private let timeout: Double
  /// When SIGTERM was sent, in nanoseconds of CLOCK_MONOTONIC, as in the other times below.
  private var beganAt: UInt64?
  private var endedAt: UInt64 = 0
  /// When SIGKILL was sent, by process ID.
  private var killedAt: [Int32: UInt64] = [:]
  /// Numbers of the heap images that were taken when the load ended, by the trace's path.
  private var images: [String: UInt32] = [:]
  /// The reasons why such an image is missing, by the trace's path.
  private var failures: [String: String] = [:]

  /// - Parameter timeout: Seconds that a process may take to end after SIGTERM.
  init(_ target: TargetProcess, of session: RecordingSession, choice: CheckedProcesses, timeout: Double) {
    (targetID, self.session, self.choice, self.timeout) = (target.processID, session, choice, timeout)
  }

  /// True if the program was sent SIGTERM.
  var hasBegun: Bool { beganAt != nil }
  /// True if the program, or a process that it left behind, was sent SIGKILL.
  var hasKilled: Bool { !killedAt.isEmpty }
  /// True if the program itself was sent SIGKILL.
  var hasKilledTarget: Bool { killedAt[targetID] != nil }

  /// Takes an image of each process to judge, and then sends the program SIGTERM.
  func begin(takesImages: Bool) {
    if takesImages { takeImages() }
    beganAt = Self.now()
    kill(targetID, SIGTERM)
  }

  private func takeImages() {
    for process in choice.choose(session.running()) {
      do {
        images[process.trace.path] = try SnapshotRequest(processID: process.processID, live: process.live)
          .take(waitingSeconds: Self.imageSeconds)
      } catch {
        failures[process.trace.path] = Self.reason(error)
      }
    }
  }

  /// Returns the reason of a failure, without the advice in it that fits only `leaktrace snapshot`.
  private static func reason(_ failure: SnapshotRequest.Failure) -> String {
    switch failure {
    case .noAnswer(_, let seconds): "it took none within \(seconds) s"
    case .notOffered: "it uses the signal that requests images"
    case .cannotOpen, .cannotSignal, .ended, .notWritten: "\(failure)"
    }
  }

  /// Sends the program SIGKILL if it has not ended in time.
  func look() {
    guard let beganAt, !hasKilledTarget, Self.seconds(from: beganAt, to: Self.now()) > timeout else { return }
    killedAt[targetID] = Self.now()
    kill(targetID, SIGKILL)
  }

  /// Call this when the program has ended. Stops the processes to judge that the program left behind. Returns when all
  /// have ended, or cannot be ended.
  func finish() {
    endedAt = Self.now()
    guard hasBegun else { return }
    let left = session.running().filter { images[$0.trace.path] != nil || choice.includes($0) }
    guard !left.isEmpty else { return }
    for process in left { kill(process.processID, SIGTERM) }
    waitForEnd(of: left, seconds: timeout)
    for process in left where process.isRunning {
      killedAt[process.processID] = Self.now()
      kill(process.processID, SIGKILL)
    }
    waitForEnd(of: left, seconds: Self.killSeconds)
    endedAt = Self.now()
  }

  /// Returns when none of the processes records any more, or when the time is over.
  private func waitForEnd(of processes: [RunningRecording], seconds: Double) {
    let begin = Self.now()
    while processes.contains(where: \.isRunning), Self.seconds(from: begin, to: Self.now()) < seconds { usleep(20_000) }
  }

  // MARK: Explanations

  /// Returns a sentence about a process that was killed, or that left no image at its end; nil for other processes.
  ///
  /// - Parameters:
  ///   - process: The name of the process in the sentence.
  ///   - image: The heap image whose leaks are reported.
  func remark(on trace: RecordedTrace, called process: String, image: TraceSnapshot) -> String? {
    let isOfLoad = images[trace.path] == image.number
    let killed = killedAt[Int32(bitPattern: trace.processID)]
    guard isOfLoad || killed != nil else { return nil }
    let age = Decimal.duration(Self.seconds(from: image.monotonic, to: killed ?? endedAt))
    return
      "\(process) \(killed == nil ? "left no heap image when it ended" : notEnded). The report judges heap image "
      + "\(image.number), taken \(isOfLoad ? "at the end of the load, " : "")\(age) before"
  }

  /// Returns the reason why a process has no heap image; nil if no reason is known.
  func obstacle(of trace: RecordedTrace) -> String? {
    let parts = [
      killedAt[Int32(bitPattern: trace.processID)] == nil ? nil : "it \(notEnded)",
      failures[trace.path].map { "no image at the end of the load: \($0)" },
    ].compactMap { $0 }
    return parts.isEmpty ? nil : parts.joined(separator: "; ")
  }

  private var notEnded: String {
    let seconds = timeout == timeout.rounded() ? "\(Int(timeout)) s" : Decimal.duration(timeout)
    return "did not end within \(seconds) of SIGTERM, and was killed"
  }

  private static func seconds(from begin: UInt64, to end: UInt64) -> Double {
    end > begin ? Double(end - begin) / 1e9 : 0
  }

  private static func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
