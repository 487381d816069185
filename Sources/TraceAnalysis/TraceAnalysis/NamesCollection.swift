// Reads the names that reports about a trace need, and stores them in the trace.

import HeapAnalysis
import LeakDetection
import LeakGates
import TraceReading
import TraceSymbolication

/// The names of one trace: function, file and line for every recorded stack, and fields and layouts for every type in
/// its heap image.
///
/// The trace stores those parts of files that an analysis reads. Every later report then reads the same bytes, even if
/// the files were removed or replaced, or are on another machine.
package struct NamesCollection {
  /// What was added to a trace.
  package struct Outcome: Hashable, Sendable {
    /// The number of bytes of names in the trace.
    package var bytes: ByteCount
    /// The number of files with stored parts.
    package var files: Int
    /// False if the time limit was reached before all names were read.
    package var isComplete: Bool
  }

  private let search: DebugFileSearch
  private let toolPath: String
  private let toolVersion: String
  private let policy: ReadingPolicy
  /// Maximum time for reading names.
  private let timeLimit: Duration

  /// - Parameters:
  ///   - toolPath: Directories that may contain a Swift toolchain, as in PATH.
  ///   - timeLimit: After this time, no more names are read. A heap image is always read to its end.
  package init(
    search: DebugFileSearch = DebugFileSearch(), toolPath: String, toolVersion: String,
    policy: ReadingPolicy = ReadingPolicy(), timeLimit: Duration
  ) {
    (self.search, self.toolPath, self.toolVersion) = (search, toolPath, toolVersion)
    (self.policy, self.timeLimit) = (policy, timeLimit)
  }

  /// Analyzes the trace at `path`, and stores the parts of files that the analysis read. They replace names that are
  /// already in the trace.
  ///
  /// Takes as long as `analyze`, plus some microseconds for each distinct frame. Replaces the process's SIGSEGV
  /// handler. Throws as `TraceReader` and `NamesWriter` do; after an error, the trace has no names.
  package func add(toTraceAt path: String) throws(TraceFormatError) -> Outcome {
    let deadline = ContinuousClock.now + timeLimit
    let files = TrackedSymbolFiles()
    let reader = try TraceReader(path: path, policy: policy)
    guard reader.closing != nil, !reader.hasLiveFile else { throw .notClosed(path: path) }
    let snapshot = SnapshotChoice.choose(reader, number: nil)
    var analysis = AllocationAnalysis(reader, snapshot: snapshot)
    let openFiles = OpenImageFiles()
    if let snapshot {
      _ = LeakReport(
        reader, &analysis, snapshot: snapshot, files: search, access: files, openFiles: openFiles, toolPath: toolPath,
        ownModules: [])
    }
    let isComplete = readFrames(
      of: analysis, Symbolicator(of: [analysis], search: search, access: files, openFiles: openFiles), until: deadline)
    // A report names the problems with each file that it opens, and needs these parts.
    openFiles.readAll()
    let named = files.namedFiles().map { file in
      var file = file
      if let sysroot = search.sysroot, file.path.hasPrefix(sysroot + "/") {
        file.path.removeFirst(sysroot.count)
      }
      return file
    }
    let bytes = try NamesWriter.write(named, isComplete: isComplete, toolVersion: toolVersion, toTraceAt: path)
    return Outcome(bytes: ByteCount(bytes), files: named.count, isComplete: isComplete)
  }

  /// Looks up the frames of all stacks. Returns false if it reached the deadline first.
  private func readFrames(
    of analysis: AllocationAnalysis, _ symbolicator: Symbolicator, until deadline: ContinuousClock.Instant
  ) -> Bool {
    let definitions = analysis.definitions
    // Check the deadline only after some frames, because reading the clock takes as long as a few frames.
    for number in 2..<max(2, definitions.stacks.nodeCount) {
      guard let frame = definitions.stacks.frame(of: StackID(UInt32(number))) else { continue }
      _ = symbolicator.frames(for: frame.key, in: frame.image.map { definitions.images[$0].image })
      if number % 256 == 0, ContinuousClock.now > deadline { return false }
    }
    return true
  }
}
