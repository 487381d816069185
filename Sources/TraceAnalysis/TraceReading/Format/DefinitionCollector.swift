// Collecting the definitions of all chunks.

/// Collects the definitions of payloads in file order; `finish` returns the result. Keeps no more than the limits and
/// the memory budget allow.
struct DefinitionCollector {
  private var images = ImageRecords()
  private var definitions = TraceDefinitions()
  private var threads: [UInt32: ThreadRecord] = [:]
  private var warnings: Set<String> = []
  private var spareBytes: UInt64
  private let budget: ReadingBudget
  private let limits: ReadingLimits
  private var ignored: UInt64 = 0

  /// The limit on the bytes that are read also limits the bytes that are kept.
  init(limits: ReadingLimits, budget: ReadingBudget) {
    self.limits = limits
    self.budget = budget
    spareBytes = limits.definitionBytes
  }

  mutating func collect(
    _ payload: PayloadBuffer, place: TraceDiagnostic.Place, chunk: Int, diagnostics: inout TraceDiagnostics
  ) {
    var decoder = DefinitionDecoder(payload)
    while true {
      switch decoder.next() {
      case .end: return
      case .damaged:
        diagnostics.append(
          .init(
            .damagedDefinitions(payloadOffset: decoder.recordOffset, records: decoder.recordCount), at: place,
            chunk: chunk))
        return
      case .damagedRecord(let kind):
        diagnostics.append(
          .init(.damagedDefinition(kind: kind, payloadOffset: decoder.recordOffset), at: place, chunk: chunk))
      case .definition(let definition):
        let cost = Self.cost(definition)
        if cost > spareBytes || (definition.isImage && images.loads.count >= limits.imageCount)
          || !budget.mayGoOn(every: 4096)
        {
          ignored += 1
        } else {
          spareBytes -= cost
          add(definition)
        }
      }
    }
  }

  /// Returns about how many bytes it takes to keep a definition.
  private static func cost(_ definition: Definition) -> UInt64 {
    switch definition {
    case .type(let type): 160 + UInt64(type.name.utf8.count)
    case .imageLoaded(let image, _): 200 + UInt64(image.path.utf8.count + image.buildID.count)
    case .warning(let text): 32 + UInt64(text.utf8.count)
    case .threadStack(let stack): stack.cost
    case .process(let process): 32 + UInt64(process.executable.utf8.count)
    case .allocator(let record): 160 + 32 * UInt64(record.pins.count)
    case .imageUnloaded, .clock, .memory, .pause, .thread, .residence, .sampleTotals, .limit: 64
    case .sampledSite(let site): site.cost
    case .unknown: 0
    }
  }

  private mutating func add(_ definition: Definition) {
    switch definition {
    case .type(let type):
      if definitions.types[type.id] == nil { definitions.types[type.id] = type }
    case .imageLoaded(let image, let time):
      images.loads.append(TraceImage(image: image, loadTime: time, unloadTime: nil))
    case .imageUnloaded(let first, let end, let time):
      images.unloads.append(.init(first: first.rawValue, end: end.rawValue, time: time))
    case .clock(let sample): definitions.clockSamples.append(sample)
    case .memory(let sample): definitions.memorySamples.append(sample)
    case .allocator(let record): definitions.allocators.append(record)
    case .residence(let record): definitions.residences.append(record)
    case .sampleTotals(let totals): definitions.sampleTotals.append(totals)
    case .sampledSite(let site): definitions.sampledSites.append(site)
    case .process(let process):
      if !process.executable.isEmpty { definitions.process.executable = process.executable }
      definitions.process.flags |= process.flags
    case .pause(let pause): definitions.pauses.append(pause)
    case .thread(let thread): add(thread)
    case .warning(let text):
      if warnings.insert(text).inserted { definitions.warnings.append(text) }
    case .threadStack(let stack):
      if definitions.threadStacks[stack.osThread] == nil { definitions.threadStacks[stack.osThread] = stack }
    case .limit(let limit): if definitions.limit == nil { definitions.limit = limit }
    case .unknown: break
    }
  }

  mutating func add(_ thread: ThreadRecord) {
    if threads[thread.thread] == nil { threads[thread.thread] = thread }
  }

  mutating func finish(diagnostics: inout TraceDiagnostics) -> TraceDefinitions {
    definitions.images = images.paired()
    definitions.stacks.prepare(images: definitions.images, limits: limits, budget: budget)
    if ignored > 0, budget.stop == nil { diagnostics.append(.init(.tooManyDefinitions(ignored: ignored))) }
    definitions.memorySamples.sort { $0.time < $1.time }
    definitions.allocators.sort { $0.time < $1.time }
    definitions.residences.sort { $0.time < $1.time }
    definitions.sampleTotals.sort { $0.time < $1.time }
    definitions.sampledSites.sort { ($0.time, $0.number) < ($1.time, $1.number) }
    definitions.clockSamples.sort { $0.time < $1.time }
    definitions.pauses.sort { $0.time < $1.time }
    definitions.threads = threads.values.sorted { $0.thread < $1.thread }
    return definitions
  }
}
