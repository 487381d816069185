// Reports that the recorded program keeps running after a signal that ends most programs.

import Glibc
import TraceAnalysis

/// Watches a program after SIGINT or SIGTERM, and prints at most one sentence. Main thread only.
final class SurvivedSignal {
  /// The time that a program may take to end after the signal.
  private static let patience = Duration.seconds(2)

  private let session: RecordingSession
  private let takesImages: Bool
  private var signalledAt: ContinuousClock.Instant?
  private var isDone = false

  /// - Parameter takesImages: Whether the recording takes heap images.
  init(session: RecordingSession, takesImages: Bool) { (self.session, self.takesImages) = (session, takesImages) }

  /// True if `look` must be called again soon.
  var isWaiting: Bool { signalledAt != nil && !isDone }

  /// Call this for each signal that this process receives.
  func note(_ signal: Int32) {
    if signal == SIGINT || signal == SIGTERM { signalledAt = signalledAt ?? .now }
  }

  /// Prints the sentence if the program still runs some time after the signal. While a heap image is being written,
  /// waits: the recorder takes an image before the signal ends the program.
  func look() {
    guard isWaiting, let signalledAt, .now - signalledAt >= Self.patience else { return }
    let running = session.running()
    guard !running.contains(where: \.isWritingImage) else { return }
    isDone = true
    let own = ProgramTraces.choose(among: running.map(\.trace)) { trace in
      running.first { $0.trace.path == trace.path }?.program
    }
    guard let process = own.first?.processID else { return }
    ErrorOutput.print(
      takesImages ? "still running; take an image with leaktrace snapshot \(process)" : "still running")
  }
}
