// Makes findings from a trace with a heap image.

import HeapAnalysis
import TraceReading
import TraceSymbolication

/// The leaks of one snapshot of one trace, in three steps: `HeapModel`, `Verdicts` and `NamedFindings`. For one thread
/// at a time.
package final class LeakAnalysis {
  let reader: TraceReader
  let verdicts: Verdicts
  private let naming: any FrameNaming
  private let ownModules: Set<String>
  private var endingRemark: String?

  /// Nil if no retains and releases were recorded.
  private lazy var lettingGo: LettingGo? = {
    guard !reader.header.lacksHistory, reader.header.referenceCounting != .off else { return nil }
    let places = RetainPlaces(model.trace.definitions, naming: naming)
    return LettingGo(graph, in: reader, until: model.snapshot.time, work: model.activations.ordinal) {
      places.reportFrames(of: $0).frames.map(\.source)
    }
  }()

  /// Nil if no retains and releases were recorded.
  private lazy var objectUses: ObjectUses? = {
    guard !reader.header.lacksHistory, reader.header.referenceCounting != .off else { return nil }
    return ObjectUses(graph, model.trace.sites, in: reader, until: model.snapshot.time)
  }()

  /// Nil if no retains and releases were recorded.
  private lazy var partings: FamilyPartings? = {
    guard !reader.header.lacksHistory, reader.header.referenceCounting != .off else { return nil }
    return FamilyPartings(graph, model.trace.sites, in: reader, until: model.snapshot.time)
  }()

  package var model: HeapModel { verdicts.model }
  package var graph: ObjectGraph { verdicts.model.graph }
  var finder: LeakFinder { verdicts.finder }

  /// Builds the graph of `snapshot` and finds its leaks. `analysis` must come from the same snapshot. Linear in the
  /// live blocks and the heap image's words.
  ///
  /// The files of loaded images are searched for in the same way as symbols.
  ///
  /// - `toolPath`: directories that may hold a Swift toolchain, as in PATH.
  /// - `ownModules`: Swift modules of the program that its folders do not identify as its own.
  /// - `naming`: looks up the names in findings, and nothing else.
  /// - `earlier`: rebuilds the heap of `snapshot`; nil if the trace has its image.
  package convenience init(
    _ reader: TraceReader, _ analysis: AllocationAnalysis, snapshot: TraceSnapshot,
    search: DebugFileSearch = DebugFileSearch(),
    access: (any SymbolFileAccess)? = nil, toolPath: String = "", ownModules: Set<String> = [],
    naming: any FrameNaming, earlier: EarlierHeap? = nil
  ) {
    self.init(reader, analysis, snapshot: snapshot, naming: naming, ownModules: ownModules, earlier: earlier) {
      image, images in
      let access = access ?? search.access(storedBy: reader.storedFiles.map { [$0] } ?? [])
      let contents = ImageContents(images, search: search, access: access)
      let libraries = RemoteMirrorLibrary.candidates(images: images, path: toolPath)
      return (
        ReflectedLayouts(
          contents, image: image, snapshot: earlier?.exit ?? snapshot, libraries: libraries),
        ThreadFrames(contents, image: image, processor: snapshot.isArm64 ? .arm64 : .x86_64)
      )
    }
  }

  /// Uses the given layouts. `imageLimit`: the memory limit of the heap image; nil for the memory that the reader's
  /// limit leaves.
  convenience init(
    _ reader: TraceReader, _ analysis: AllocationAnalysis, snapshot: TraceSnapshot, naming: any FrameNaming,
    layouts: any LayoutSource, ownModules: Set<String> = [], imageLimit: MemoryLimit? = nil
  ) {
    self.init(reader, analysis, snapshot: snapshot, naming: naming, ownModules: ownModules, imageLimit: imageLimit) {
      _, _ in (layouts, nil)
    }
  }

  private init(
    _ reader: TraceReader, _ analysis: AllocationAnalysis, snapshot: TraceSnapshot, naming: any FrameNaming,
    ownModules: Set<String>, imageLimit: MemoryLimit? = nil, earlier: EarlierHeap? = nil, files: HeapModel.Files
  ) {
    (self.reader, self.naming, self.ownModules) = (reader, naming, ownModules)
    let codeFacts = CodeFacts(analysis.definitions, naming: naming)
    let model = HeapModel(
      reader, analysis, snapshot: snapshot, codeFacts: codeFacts, imageLimit: imageLimit, earlier: earlier, files: files
    )
    verdicts = Verdicts(model, codeFacts: codeFacts)
  }

  /// Returns all findings with names, library findings last. Looks up names for findings only. If references dangle, or
  /// objects seem to have been used after their end, reads the trace's events once more.
  package func findings() -> [Finding] {
    let named = NamedFindings(
      verdicts: verdicts, names: names(), lettingGo: lettingGo, objectUses: objectUses, partings: partings)
    let (findings, remark) = named.findings(in: reader)
    endingRemark = remark
    return findings
  }

  /// Returns the suspicions about a heap that was rebuilt from the events. Only types that grew until then accumulate.
  package func earlierFindings() -> [Finding] {
    let suspicions = NamedFindings(
      verdicts: verdicts, names: names(), lettingGo: lettingGo, objectUses: objectUses, partings: partings
    ).suspicions(in: reader)
    return isGrown ? suspicions : suspicions.filter { $0.verdict != .accumulating }
  }

  /// Whether the heap has growth to judge. A heap that was rebuilt for objects whose siblings ended has none.
  private var isGrown: Bool { model.earlier?.isGrown ?? true }

  /// Returns only suspicions by the given rules: objects that outlived their siblings, and accumulating objects. For
  /// tools that show the decisions of the rules. O(graph).
  package func suspicions(by rules: SurvivorRules) -> [Finding] {
    SurvivorFindings(
      verdicts, naming: names(), rules: rules, lettingGo: lettingGo, objectUses: objectUses, partings: partings
    ).findings()
  }

  /// Returns every candidate for a suspicion, listed or not, with the effects of the rules. Without a history, the
  /// candidates are objects that registrations keep. O(graph).
  package func suspicionAccounts() -> [SuspicionAccount] {
    SurvivorFindings(
      verdicts, naming: names(), lettingGo: lettingGo, objectUses: objectUses, partings: partings, log: SuspicionLog()
    ).accounts()
  }

  /// Returns only findings of expectations, for a heap image taken when an expectation failed. `totals`: the final
  /// outcomes of the expectations.
  func expectationFindings(_ totals: [ExpectationOutcome], places: Set<MarkPlace>) -> [Finding] {
    survivorFindings().expectationFindings(totals, places: places)
  }

  /// Returns only findings of the expectations at some places. `times`: a time for each place. Only objects that became
  /// due after that time count.
  func expectationFindings(dueAfter times: [MarkPlace: UInt64]) -> [Finding] {
    survivorFindings().expectationFindings(places: Set(times.keys), dueAfter: times)
  }

  private func survivorFindings() -> SurvivorFindings {
    SurvivorFindings(verdicts, naming: names())
  }

  /// The names that suppressions are matched against.
  package var suppressionNames: SuppressionNames {
    SuppressionNames(definitions: model.trace.definitions, naming: naming)
  }

  /// Returns the collections that grew, most bytes first; none if the births of blocks are not known. Linear in the
  /// references of collections.
  package func grownCollections() -> [GrownCollection] {
    guard verdicts.hasHistory, !model.trace.definitions.process.isAttached, isGrown else { return [] }
    return GrownCollections(verdicts, naming: names()).rows()
  }

  /// The leaked blocks, by node. Nil if the heap image lacks parts, since the leaks are unknown then.
  package var leakedBlocks: NodeSet? { verdicts.finder.leaked }

  /// Returns the way that the program still has to a leaked block; nil if there is none.
  package func way(toLeaked node: NodeID) -> LeakWay? { verdicts.finder.way(to: node) }

  /// Returns the leaked blocks by allocation site. Nil if the heap image lacks parts, since the leaks are unknown then.
  /// Linear in the blocks.
  package func leakedBySite() -> [SiteID: BlockSum]? { verdicts.leakedBySite() }

  func names() -> FindingNaming {
    let (model, trace) = (verdicts.model, verdicts.model.trace)
    let definitions = trace.definitions
    let names = FindingNaming(
      model.graph, definitions: definitions, clock: trace.clock, sites: model.sites, naming: naming,
      frameLimit: reader.limits.namedFrames, ownModules: ownModules, sampledStacks: trace.sampledStacks)
    names.threads = ThreadNames(
      definitions, mainThread: UInt64(reader.header.processID),
      stack: model.activations.outermostStack(ofThread:),
      frames: { [naming] key in naming.frames(for: key, in: definitions.image(at: key.lookupAddress)) })
    return names
  }

  /// The reason why the heap image could not be analyzed completely; nil if it could.
  package var obstacle: String? { HeapRemarks(verdicts).obstacle }

  /// Sentences that a reader needs to judge the findings; complete once `findings` has been called.
  package var remarks: [String] {
    HeapRemarks(verdicts).all + (endingRemark.map { [$0] } ?? [])
  }
}
