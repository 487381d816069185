// The options of light recordings: samples of allocations, and heap images that the recorder takes by itself.

import ArgumentParser
import TraceAnalysis

struct LightOptions: ParsableArguments {
  @Flag(
    help: ArgumentHelp(
      "Record only samples of allocations, at hardly any cost. Heap images still show cycles and lost objects."))
  var light = false

  @Option(
    help: ArgumentHelp(
      "With --light or --limit: bytes of allocation from one sample to the next, on average, such as 512KiB.",
      valueName: "bytes"))
  var sample: ByteSize?

  @Option(
    help: ArgumentHelp(
      "With --light: number of allocations at the start that are all sampled, at most 16384 (default: 8192).",
      valueName: "count"))
  var sampleFirst: UInt32?

  @Option(
    help: ArgumentHelp(
      "With --light, or --limit once that is reached: write a heap image at this interval, such as 10m or 1h, while the program allocates. The shortest is 10s.",
      valueName: "time"))
  var snapshotEvery: TimeSpan?

  @Option(
    help: ArgumentHelp(
      "With --light, or --limit once that is reached: write a heap image when the program's resident memory reaches this size (2GiB, or a share of the container's limit: 80%), and every ten minutes while it stays above.",
      valueName: "size"))
  var snapshotAbove: ResidentLimit?

  @Option(
    help: ArgumentHelp(
      "With --snapshot-every or --snapshot-above: number of these images to keep in the trace, 0 for all (default: 100). New images replace old ones, and fewer of the older ones stay.",
      valueName: "count"))
  var keepImages: UInt32?

  @Option(
    help: ArgumentHelp(
      "With --light, or --limit once that is reached: write a heap profile for pprof beside the trace at this interval, such as 60s, while the program allocates. The newest 60 stay.",
      valueName: "time"))
  var profileEvery: TimeSpan?

  @Option(
    help: ArgumentHelp(
      "Record every call until the trace reaches this size, such as 2GiB, and continue as with --light.",
      valueName: "size"))
  var limit: ByteSize?

  func validate(besides options: RecordingOptions) throws {
    if !light, limit == nil, let option = lightOptions.first(where: \.isUsed) {
      throw ValidationError("\(option.name) is for --light or --limit.")
    }
    if let limit {
      if light { throw ValidationError("--light and --limit exclude each other: a light recording hardly grows.") }
      if limit.bytes < RecordingSettings.minTraceLimit { throw ValidationError("--limit must be at least 1 MiB.") }
    }
    if snapshotEvery != nil || snapshotAbove != nil, !options.snapshots {
      throw ValidationError("--no-snapshots excludes --snapshot-every and --snapshot-above.")
    }
    if let keepImages {
      if snapshotEvery == nil, snapshotAbove == nil {
        throw ValidationError("--keep-images is for --snapshot-every or --snapshot-above.")
      }
      if keepImages != 0, !RecordingSettings.keptImages.contains(keepImages) {
        throw ValidationError("--keep-images must be 0, or between 2 and \(RecordingSettings.keptImages.upperBound).")
      }
    }
    if let snapshotEvery, snapshotEvery.seconds < Double(RecordingSettings.minImageInterval) {
      throw ValidationError("--snapshot-every must be at least \(RecordingSettings.minImageInterval) seconds.")
    }
    if let profileEvery, profileEvery.seconds < Double(RecordingSettings.minProfileInterval) {
      throw ValidationError("--profile-every must be at least \(RecordingSettings.minProfileInterval) second.")
    }
    if let sample, !RecordingSettings.samplePeriods.contains(sample.bytes) {
      throw ValidationError("--sample must be between 1 byte and 1 TiB.")
    }
    if let sampleFirst {
      if !light { throw ValidationError("--sample-first is for --light.") }
      if sampleFirst > RecordingSettings.maxFirstSamples {
        throw ValidationError("--sample-first must be 16384 at most.")
      }
    }
    if light && options.arc != .stacks {
      throw ValidationError("--light and --arc exclude each other: a light recording has no retains and releases.")
    }
  }

  private var lightOptions: [(name: String, isUsed: Bool)] {
    [
      ("--sample", sample != nil), ("--snapshot-every", snapshotEvery != nil),
      ("--snapshot-above", snapshotAbove != nil), ("--profile-every", profileEvery != nil),
    ]
  }

  /// Returns a sentence about the cost of heap images that the recorder takes by itself, for the start of the
  /// recording. Nil if it takes none.
  func imageCost() throws(RecordingError) -> String? {
    guard snapshotEvery != nil || snapshotAbove != nil else { return nil }
    let limit = try snapshotAbove?.bytes()
    let size = limit ?? Self.exampleSize
    var times: [String] = []
    if let snapshotEvery { times.append("every \(Decimal.duration(snapshotEvery.seconds))") }
    if let limit { times.append("above \(Decimal.bytes(limit)) resident, every ten minutes at most") }
    return
      "heap images \(times.joined(separator: ", and ")): for each, a program of \(Decimal.bytes(size)) \(ImageCost(ofSize: size).words)"
  }

  /// The size to describe the cost for, since the program does not run yet.
  private static let exampleSize: UInt64 = 1 << 30

  func mode() throws(RecordingError) -> RecordingSettings.Mode {
    guard light || limit != nil else { return .full }
    let sampling = RecordingSettings.Sampling(
      period: sample?.bytes ?? RecordingSettings.usualSamplePeriod,
      first: sampleFirst ?? RecordingSettings.usualFirstSamples,
      images: .init(
        interval: snapshotEvery.map { UInt64($0.seconds) }, residentBytes: try snapshotAbove?.bytes(),
        keptCount: keepImages ?? RecordingSettings.usualKeptImages),
      profileInterval: profileEvery.map { UInt64($0.seconds) })
    return limit.map { .limited(traceBytes: $0.bytes, sampling) } ?? .light(sampling)
  }
}
