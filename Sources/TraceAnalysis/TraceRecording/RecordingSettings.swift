// The settings of a recording, and the variables that pass them to the preloaded library.

import CTraceFormat

/// The settings of one recording.
package struct RecordingSettings: Hashable, Sendable {
  package enum Children: Hashable, Sendable { case followed, notFollowed }
  package enum Retains: String, Hashable, Sendable, CaseIterable { case stacks, counts, off }
  package enum Start: Hashable, Sendable { case recording, paused }
  /// The stacks that the recorder compares with a fresh unwind, to check itself.
  package enum StackChecking: Hashable, Sendable { case none, everyStack }

  /// The calls that are recorded: all calls, or only samples of allocations.
  package enum Mode: Hashable, Sendable {
    case full
    /// Records every call until the trace has this many bytes, and then only samples.
    case limited(traceBytes: UInt64, Sampling)
    case light(Sampling)
  }

  /// The settings of sampling.
  package struct Sampling: Hashable, Sendable {
    /// Bytes of allocation from one sample to the next, on average.
    package var period: UInt64
    /// The number of allocations at the start of the recording that are all sampled.
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

  /// Heap images that the recorder takes automatically.
  package struct DueImages: Hashable, Sendable {
    /// Seconds from one heap image to the next; nil for no such images.
    package var interval: UInt64?
    /// While at least this many bytes are resident, a heap image is taken every ten minutes; nil for no such images.
    package var residentBytes: UInt64?
    /// The number of heap images that stay in the trace; 0 for all. To make room for new images, the recorder thins out
    /// the older images. The first image always stays.
    package var keptCount: UInt32

    package init(
      interval: UInt64? = nil, residentBytes: UInt64? = nil, keptCount: UInt32 = RecordingSettings.usualKeptImages
    ) {
      (self.interval, self.residentBytes, self.keptCount) = (interval, residentBytes, keptCount)
    }
  }

  /// The heap images that are written at the end and on request.
  package enum Snapshots: Hashable, Sendable {
    /// `signal`: the number of the signal that requests a heap image; nil for the recorder's default. `roundSignal`:
    /// the number of the signal that ends a round of repeated work; nil for no such signal.
    case taken(signal: Int32?, roundSignal: Int32? = nil)
    case none
  }

  /// The default number of bytes from one sample to the next. Other heap profilers have the same default.
  package static let usualSamplePeriod = UInt64(LT_USUAL_SAMPLE_PERIOD)
  /// The default number of first allocations that are all sampled. Small programs make fewer allocations, so all of
  /// them are sampled. For a server, the cost is not noticeable.
  package static let usualFirstSamples = UInt32(LT_USUAL_FIRST_SAMPLES)
  /// The maximum number of first allocations that may all be sampled. The recorder has space for this number of stacks.
  package static let maxFirstSamples = UInt32(LT_FIRST_SAMPLES_MAX)
  /// The minimum number of seconds from one heap image to the next. Each heap image stops the process, and writes a
  /// copy of its memory.
  package static let minImageInterval: UInt64 = 10
  /// The default number of heap images that stay in the trace. They are enough for a curve over a week, and take about
  /// 30 MB in the trace of a small server.
  package static let usualKeptImages = UInt32(LT_USUAL_KEPT_IMAGES)
  /// The numbers of kept heap images that a recorder accepts.
  package static let keptImages: ClosedRange<UInt32> = 2...UInt32(LT_KEPT_IMAGES_MAX)
  /// The minimum number of seconds from one heap profile to the next.
  package static let minProfileInterval: UInt64 = 1
  /// The minimum number of trace bytes before sampling starts. A smaller trace contains little more than the program's
  /// start.
  package static let minTraceLimit: UInt64 = 1 << 20
  /// The sample periods that a recorder accepts.
  package static let samplePeriods: ClosedRange<UInt64> = 1...(1 << 40)

  /// The default signal that requests heap images.
  package static let usualSnapshotSignal: Int32 = 62

  package var output: OutputPattern
  package var children: Children
  /// The recording mode for retains and releases.
  package var retains: Retains
  /// Maximum number of frames of a stack; nil for the recorder's own limit.
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
  /// The number of the session, which is stored in every trace of the run. It must not be 0.
  package var sessionID: UInt64
  /// The path of the file for the library's messages, such as the reason why the library does not record a process.
  package var messagesPath: String

  package init(settings: RecordingSettings, library: PreloadLibrary, sessionID: UInt64, messagesPath: String) {
    self.settings = settings
    self.library = library
    self.sessionID = sessionID
    self.messagesPath = messagesPath
  }

  /// The variables that the recorder reads, without LD_PRELOAD.
  package var variables: [(name: String, value: String)] {
    var result = RecorderVariables()
    result.add(LT_SETTING_OUTPUT, settings.output.text)
    result.add(LT_SETTING_FOLLOW, settings.children == .followed)
    result.add(LT_SETTING_ARC, settings.retains.rawValue)
    result.add(LT_SETTING_SESSION, sessionID)
    result.add(LT_SETTING_MESSAGES, messagesPath)
    if let depth = settings.stackDepthLimit { result.add(LT_SETTING_DEPTH, depth) }
    switch settings.mode {
    case .full: break
    case .light(let sampling):
      result.add(LT_SETTING_MODE, "light")
      Self.add(sampling, to: &result)
    case .limited(let bytes, let sampling):
      result.add(LT_SETTING_LIMIT, bytes)
      Self.add(sampling, to: &result)
    }
    if settings.start == .paused { result.add(LT_SETTING_PAUSED, true) }
    if settings.stackChecking == .everyStack { result.add(LT_SETTING_VERIFY_STACKS, true) }
    switch settings.snapshots {
    case .taken(let signal, let roundSignal):
      if let signal { result.add(LT_SETTING_SNAPSHOT_SIGNAL, signal) }
      if let roundSignal { result.add(LT_SETTING_ROUND_SIGNAL, roundSignal) }
    case .none: result.add(LT_SETTING_SNAPSHOTS, false)
    }
    return result.pairs
  }

  private static func add(_ sampling: RecordingSettings.Sampling, to result: inout RecorderVariables) {
    result.add(LT_SETTING_SAMPLE, sampling.period)
    result.add(LT_SETTING_SAMPLE_FIRST, sampling.first)
    if let interval = sampling.profileInterval { result.add(LT_SETTING_PROFILE_SECONDS, interval) }
    if let interval = sampling.images.interval { result.add(LT_SETTING_SNAPSHOT_SECONDS, interval) }
    if let bytes = sampling.images.residentBytes { result.add(LT_SETTING_SNAPSHOT_BYTES, bytes) }
    result.add(LT_SETTING_KEEP_IMAGES, sampling.images.keptCount)
  }

  /// Returns `inherited` with the recorder's variables. The recorder's library comes first in LD_PRELOAD. The
  /// `LEAKTRACE_` variables of a surrounding recording are replaced. All other entries keep their positions and bytes.
  ///
  /// - Parameter inherited: `NAME=value` entries.
  package func entries(inherited: [[UInt8]]) -> [[UInt8]] {
    let preload = Array("LD_PRELOAD=".utf8)
    let own = Array(LT_SETTING_PREFIX.utf8)
    let ours = Array(library.path.utf8)
    var result: [[UInt8]] = []
    var isPreloaded = false
    // The number of entries that the library will remove again.
    var passing = variables.count
    for entry in inherited {
      if entry.starts(with: preload) {
        // The entry keeps its position. So after the library has removed its path, the variables are in their old order
        // again.
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
    // The auxiliary vector follows the environment, and its entries have two words. Make the number even, so that the
    // space of the removed entries holds a whole number of vector entries.
    if !passing.isMultiple(of: 2) { result.append(own + Array("PADDING=".utf8)) }
    for (name, value) in variables { result.append(Array("\(name)=\(value)".utf8)) }
    return result
  }
}
