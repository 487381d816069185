// The settings of a recording, and the variables that pass them to the preloaded library.

import CTraceFormat

/// The choices of one recording.
package struct RecordingSettings: Hashable, Sendable {
  package enum Children: Hashable, Sendable { case followed, notFollowed }
  package enum Retains: String, Hashable, Sendable, CaseIterable { case stacks, counts, off }
  package enum Start: Hashable, Sendable { case recording, paused }
  /// The stacks to compare with a fresh unwind, for checking the recorder itself.
  package enum StackChecking: Hashable, Sendable { case none, everyStack }

  /// The recorded events: each call, or only samples of allocations.
  package enum Mode: Hashable, Sendable {
    case full
    /// Records each call until the trace has this many bytes, then samples.
    case limited(traceBytes: UInt64, Sampling)
    case light(Sampling)
  }

  /// The settings of sampling.
  package struct Sampling: Hashable, Sendable {
    /// Bytes of allocation from one sample to the next, on average.
    package var period: UInt64
    /// The number of allocations at the start that are all sampled.
    package var first: UInt32
    package var images: DueImages
    /// Seconds from one heap profile to the next; nil for none.
    package var profileInterval: UInt64?

    package init(
      period: UInt64 = RecordingSettings.usualSamplePeriod, first: UInt32 = RecordingSettings.usualFirstSamples,
      images: DueImages = DueImages(), profileInterval: UInt64? = nil
    ) {
      (self.period, self.first, self.images, self.profileInterval) = (period, first, images, profileInterval)
    }
  }

  /// Heap images that the recorder takes on its own.
  package struct DueImages: Hashable, Sendable {
    /// Seconds from one to the next; nil for none.
    package var interval: UInt64?
    /// An image is taken every ten minutes while at least this many bytes are resident; nil for none.
    package var residentBytes: UInt64?
    /// The number of images that stay in the trace; 0 for all. Older images are removed first to make room for new
    /// ones.
    package var keptCount: UInt32

    package init(
      interval: UInt64? = nil, residentBytes: UInt64? = nil, keptCount: UInt32 = RecordingSettings.usualKeptImages
    ) {
      (self.interval, self.residentBytes, self.keptCount) = (interval, residentBytes, keptCount)
    }
  }

  /// The heap images that are written at the end and on request.
  package enum Snapshots: Hashable, Sendable {
    /// `signal`: the number of the signal that requests an image; nil for the recorder's own choice. `roundSignal`: the
    /// number of the signal that ends a round of repeated work; nil for none.
    case taken(signal: Int32?, roundSignal: Int32? = nil)
    case none
  }

  /// Default number of bytes from one sample to the next: as in other heap profilers.
  package static let usualSamplePeriod: UInt64 = 512 << 10
  /// Default number of allocations that are all sampled: more than small programs make, and so few that a server does
  /// not notice.
  package static let usualFirstSamples: UInt32 = 8192
  /// The number of stacks that a recorder has room for.
  package static let mostFirstSamples: UInt32 = 16384
  /// Least number of seconds from one heap image to the next: the process is stopped for each image, and a copy of it
  /// is written.
  package static let leastImageInterval: UInt64 = 10
  /// Default number of images that stay: enough for a curve of a week, in some 30 MB of a small server's trace.
  package static let usualKeptImages: UInt32 = 100
  /// The numbers that a recorder accepts.
  package static let keptImages: ClosedRange<UInt32> = 2...UInt32(LT_KEPT_IMAGES_MAX)
  /// Least number of seconds from one heap profile to the next.
  package static let leastProfileInterval: UInt64 = 1
  /// Least number of trace bytes before sampling starts: a smaller trace has hardly more than the program's start.
  package static let leastTraceLimit: UInt64 = 1 << 20
  /// The periods that a recorder accepts.
  package static let samplePeriods: ClosedRange<UInt64> = 1...(1 << 40)

  /// The default signal that requests heap images.
  package static let usualSnapshotSignal: Int32 = 62

  package var output: OutputPattern
  package var children: Children
  /// The recording mode for retains and releases.
  package var retains: Retains
  /// Limit in frames; nil for the recorder's own limit.
  package var stackDepthLimit: Int?
  package var start: Start
  package var stackChecking: StackChecking
  package var snapshots: Snapshots
  package var mode: Mode

  package init(
    output: OutputPattern, children: Children = .notFollowed, retains: Retains = .stacks, stackDepthLimit: Int? = nil,
    start: Start = .recording, stackChecking: StackChecking = .none,
    snapshots: Snapshots = .taken(signal: nil), mode: Mode = .full
  ) {
    self.output = output
    self.children = children
    self.retains = retains
    self.stackDepthLimit = stackDepthLimit
    self.start = start
    self.stackChecking = stackChecking
    self.snapshots = snapshots
    self.mode = mode
  }
}

/// The environment of the recorded program. Entries are bytes, because an environment need not be UTF-8.
package struct RecordingEnvironment: Sendable {
  package var settings: RecordingSettings
  package var library: PreloadLibrary
  /// Stored in every trace of the run; not 0.
  package var sessionID: UInt64
  /// The file for the library's messages, such as why it stepped aside.
  package var messagesPath: String

  package init(settings: RecordingSettings, library: PreloadLibrary, sessionID: UInt64, messagesPath: String) {
    self.settings = settings
    self.library = library
    self.sessionID = sessionID
    self.messagesPath = messagesPath
  }

  /// The variables that the recorder reads, without LD_PRELOAD.
  package var variables: [(name: String, value: String)] {
    var result = [
      ("LEAKTRACE_OUTPUT", settings.output.text),
      ("LEAKTRACE_FOLLOW", settings.children == .followed ? "1" : "0"),
      ("LEAKTRACE_ARC", settings.retains.rawValue),
      ("LEAKTRACE_SESSION", String(sessionID, radix: 16)),
      ("LEAKTRACE_MESSAGES", messagesPath),
    ]
    if let depth = settings.stackDepthLimit { result.append(("LEAKTRACE_DEPTH", String(depth))) }
    switch settings.mode {
    case .full: break
    case .light(let sampling): result += [("LEAKTRACE_MODE", "light")] + Self.variables(of: sampling)
    case .limited(let bytes, let sampling):
      result += [("LEAKTRACE_LIMIT", String(bytes))] + Self.variables(of: sampling)
    }
    if settings.start == .paused { result.append(("LEAKTRACE_PAUSED", "1")) }
    if settings.stackChecking == .everyStack { result.append(("LEAKTRACE_VERIFY_STACKS", "1")) }
    switch settings.snapshots {
    case .taken(let signal, let roundSignal):
      if let signal { result.append(("LEAKTRACE_SNAPSHOT_SIGNAL", String(signal))) }
      if let roundSignal { result.append(("LEAKTRACE_ROUND_SIGNAL", String(roundSignal))) }
    case .none: result.append(("LEAKTRACE_SNAPSHOTS", "off"))
    }
    return result
  }

  private static func variables(of sampling: RecordingSettings.Sampling) -> [(String, String)] {
    var result = [
      ("LEAKTRACE_SAMPLE", String(sampling.period)), ("LEAKTRACE_SAMPLE_FIRST", String(sampling.first)),
    ]
    if let interval = sampling.profileInterval { result.append(("LEAKTRACE_PROFILE_SECONDS", String(interval))) }
    if let interval = sampling.images.interval { result.append(("LEAKTRACE_SNAPSHOT_SECONDS", String(interval))) }
    if let bytes = sampling.images.residentBytes { result.append(("LEAKTRACE_SNAPSHOT_BYTES", String(bytes))) }
    result.append(("LEAKTRACE_KEEP_IMAGES", String(sampling.images.keptCount)))
    return result
  }

  /// `inherited` with the recorder's variables. The library is put before the present contents of LD_PRELOAD,
  /// LEAKTRACE_ variables of a surrounding recording are replaced, and everything else keeps its place and bytes.
  ///
  /// - Parameter inherited: `NAME=value` entries.
  package func entries(inherited: [[UInt8]]) -> [[UInt8]] {
    let preload = Array("LD_PRELOAD=".utf8)
    let own = Array("LEAKTRACE_".utf8)
    let ours = Array(library.path.utf8)
    var result: [[UInt8]] = []
    var isPreloaded = false
    // The number of entries that the library removes again.
    var passing = variables.count
    for entry in inherited {
      if entry.starts(with: preload) {
        // Keep the entry's place, so that the variables have their old order again once the library has removed its
        // entry.
        let others = entry.dropFirst(preload.count).split { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: " ") }
        let all = [ours] + others.map(Array.init).filter { $0 != ours }
        result.append(preload + Array(all.joined(separator: [UInt8(ascii: ":")])))
        isPreloaded = true
        if all.count == 1 { passing += 1 }
      } else if !entry.starts(with: own) {
        result.append(entry)
      }
    }
    if !isPreloaded {
      result.append(preload + ours)
      passing += 1
    }
    // An even number leaves room for whole entries of the auxiliary vector, which follows the environment.
    if !passing.isMultiple(of: 2) { result.append(Array("LEAKTRACE_PADDING=".utf8)) }
    for (name, value) in variables { result.append(Array("\(name)=\(value)".utf8)) }
    return result
  }
}
