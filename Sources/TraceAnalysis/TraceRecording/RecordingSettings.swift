// The settings of a recording, and the way they are told to the preloaded library.

import CTraceFormat

/// The choices of one recording.
package struct RecordingSettings: Hashable, Sendable {
  package enum Children: Hashable, Sendable { case followed, notFollowed }
  package enum Retains: String, Hashable, Sendable, CaseIterable { case stacks, counts, off }
  package enum Start: Hashable, Sendable { case recording, paused }
  /// The stacks that are compared with a fresh unwind: for checking the recorder itself.
  package enum StackChecking: Hashable, Sendable { case none, everyStack }

  /// What is recorded: each call, or samples of allocations alone.
  package enum Mode: Hashable, Sendable {
    case full
    /// Each call until the trace has so many bytes, and samples from then on.
    case limited(traceBytes: UInt64, Sampling)
    case light(Sampling)
  }

  /// What is done where samples are taken.
  package struct Sampling: Hashable, Sendable {
    /// Bytes of allocation from one sample to the next, on average.
    package var period: UInt64
    /// Allocations at the start that are all sampled.
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

  /// Heap images that are taken by themselves.
  package struct DueImages: Hashable, Sendable {
    /// Seconds from one to the next; nil for none.
    package var interval: UInt64?
    /// Resident bytes from which on one is taken, each ten minutes; nil for none.
    package var residentBytes: UInt64?
    /// Those that stay in the trace; 0 for all. The others make room for new ones, older ones first.
    package var keptCount: UInt32

    package init(
      interval: UInt64? = nil, residentBytes: UInt64? = nil, keptCount: UInt32 = RecordingSettings.usualKeptImages
    ) {
      (self.interval, self.residentBytes, self.keptCount) = (interval, residentBytes, keptCount)
    }
  }

  /// The heap images that are written, at the end and when asked for.
  package enum Snapshots: Hashable, Sendable {
    /// `signal`: the number of the one that asks for them; nil for the recorder's own choice. `roundSignal`: of the one
    /// that says that a round of repeated work is over; nil for none.
    case taken(signal: Int32?, roundSignal: Int32? = nil)
    case none
  }

  /// Bytes from one sample to the next, unless told otherwise: as other profilers of heaps have it.
  package static let usualSamplePeriod: UInt64 = 512 << 10
  /// Allocations that are all sampled, unless told otherwise: more than small programs make, and so few that a server
  /// does not notice.
  package static let usualFirstSamples: UInt32 = 8192
  /// As many stacks as a recorder has room for.
  package static let mostFirstSamples: UInt32 = 16384
  /// Seconds from one heap image to the next, at least: the process stands still for each, and a copy of it is written.
  package static let leastImageInterval: UInt64 = 10
  /// Images that stay, unless told otherwise: enough for a curve of a week, in some 30 MB of a small server's trace.
  package static let usualKeptImages: UInt32 = 100
  /// Those that a recorder takes.
  package static let keptImages: ClosedRange<UInt32> = 2...UInt32(LT_KEPT_IMAGES_MAX)
  /// Seconds from one heap profile to the next, at least.
  package static let leastProfileInterval: UInt64 = 1
  /// Bytes of a trace, at least, after which samples are taken: less holds hardly more than what a program begins with.
  package static let leastTraceLimit: UInt64 = 1 << 20
  /// Those that a recorder takes.
  package static let samplePeriods: ClosedRange<UInt64> = 1...(1 << 40)

  /// The signal that asks for heap images, unless another is chosen.
  package static let usualSnapshotSignal: Int32 = 62

  package var output: OutputPattern
  package var children: Children
  /// The way retains and releases are recorded.
  package var retains: Retains
  /// Frames; nil for the recorder's own limit.
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

/// The environment under which a program is recorded. Entries are bytes, since an environment need not be UTF-8.
package struct RecordingEnvironment: Sendable {
  package var settings: RecordingSettings
  package var library: PreloadLibrary
  /// Stored in every trace of the run; not 0.
  package var sessionID: UInt64
  /// The file to which the library writes why it stepped aside.
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

  /// `inherited` with the recorder's variables: the library is put before what LD_PRELOAD holds already, LEAKTRACE_
  /// variables of a surrounding recording are replaced, and everything else keeps its place and bytes.
  ///
  /// - Parameter inherited: `NAME=value` entries.
  package func entries(inherited: [[UInt8]]) -> [[UInt8]] {
    let preload = Array("LD_PRELOAD=".utf8)
    let own = Array("LEAKTRACE_".utf8)
    let ours = Array(library.path.utf8)
    var result: [[UInt8]] = []
    var isPreloaded = false
    // Entries that the library takes out again.
    var passing = variables.count
    for entry in inherited {
      if entry.starts(with: preload) {
        // In its place, so that the variables are in their old order again once the library has taken its entry out.
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
    // An even number leaves room for whole entries of the auxiliary vector, which is behind the environment.
    if !passing.isMultiple(of: 2) { result.append(Array("LEAKTRACE_PADDING=".utf8)) }
    for (name, value) in variables { result.append(Array("\(name)=\(value)".utf8)) }
    return result
  }
}
