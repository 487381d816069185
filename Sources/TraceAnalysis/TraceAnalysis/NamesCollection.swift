// Reads the names that reports about a trace need, and stores them in the trace.

import HeapAnalysis
import LeakDetection
import LeakGates
import TraceReading
import TraceSymbolication

/// The names of one trace: functions with file and line of every recorded stack, and fields and layouts of every type
/// that its heap image has.
///
/// Names are stored as the parts of files that an analysis reads. Every later report then reads the same bytes, even if
/// the files were removed or replaced, or are on another machine.
package struct NamesCollection {
  /// What was added to a trace.
  package struct Outcome: Hashable, Sendable {
    /// Bytes of the trace that are names.
    package var bytes: ByteCount
    /// Files with stored parts.
    package var files: Int
    /// False if the limit of time was reached before all names were read.
    package var isComplete: Bool
  }

  private let search: DebugFileSearch
  private let toolPath: String
  private let toolVersion: String
  private let memoryLimit: MemoryLimit
  /// Longest time for reading names.
  private let timeLimit: Duration

  /// - Parameters:
  ///   - toolPath: directories that may hold a Swift toolchain, as in PATH.
  ///   - timeLimit: no further names are read after that; a heap image is read to its end.
  package init(
    search: DebugFileSearch = DebugFileSearch(), toolPath: String, toolVersion: String,
    memoryLimit: MemoryLimit = .standard, timeLimit: Duration
  ) {
    (self.search, self.toolPath, self.toolVersion) = (search, toolPath, toolVersion)
    (self.memoryLimit, self.timeLimit) = (memoryLimit, timeLimit)
  }

  /// Analyzes the trace at `path`, and stores the parts of files that this read, in the place of names that the trace
  /// has.
  ///
  /// Takes as long as `analyze`, and some microseconds for each distinct frame. Takes over SIGSEGV of the process.
  /// Throws as `TraceReader` and `NamesWriter` do; then the trace has no names.
  package func add(toTraceAt path: String) throws(TraceFormatError) -> Outcome {
    let deadline = ContinuousClock.now + timeLimit
    let files = TrackedSymbolFiles()
    let reader = try TraceReader(path: path)
    guard reader.closing != nil, !reader.hasLiveFile else { throw .notClosed(path: path) }
    let snapshot = SnapshotChoice.choose(reader, number: nil)
    var analysis = AllocationAnalysis(reader, snapshot: snapshot)
    let openFiles = OpenImageFiles()
    if let snapshot {
      _ = LeakReport(
        reader, &analysis, snapshot: snapshot, files: search, access: files, openFiles: openFiles, toolPath: toolPath,
        memoryLimit: memoryLimit, ownModules: [])
    }
    let isComplete = readFrames(
      of: analysis, Symbolicator(of: [analysis], search: search, access: files, openFiles: openFiles), until: deadline)
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

  /// Looks up the frames of all stacks. Returns false if the deadline came first.
  private func readFrames(
    of analysis: AllocationAnalysis, _ symbolicator: Symbolicator, until deadline: ContinuousClock.Instant
  ) -> Bool {
    let definitions = analysis.definitions
    // Reading the clock costs as much as some frames.
    for number in 2..<max(2, definitions.stacks.nodeCount) {
      guard let frame = definitions.stacks.frame(of: StackID(UInt32(number))) else { continue }
      _ = symbolicator.frames(for: frame.key, in: frame.image.map { definitions.images[$0].image })
      if number % 256 == 0, ContinuousClock.now > deadline { return false }
    }
    return true
  }
}
