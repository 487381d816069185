// From a trace with a heap image to findings.

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

  package var model: HeapModel { verdicts.model }
  package var graph: ObjectGraph { verdicts.model.graph }
  var finder: LeakFinder { verdicts.finder }

  /// Builds the graph of `snapshot` and finds its leaks. `analysis` must have been made with the same snapshot. Linear
  /// in the live blocks and the image's words. Files of images are searched for as symbols are. `toolPath`: directories
  /// that may hold a Swift toolchain, as in PATH. `ownModules`: Swift modules that are the program's own, if folders do
  /// not show it. `naming` names the findings, and nothing else.
  package convenience init(
    _ reader: TraceReader, _ analysis: AllocationAnalysis, snapshot: TraceSnapshot,
    search: DebugFileSearch = DebugFileSearch(),
    access: (any SymbolFileAccess)? = nil, toolPath: String = "", memoryLimit: MemoryLimit = .standard,
    ownModules: Set<String> = [], naming: any FrameNaming
  ) {
    self.init(reader, analysis, snapshot: snapshot, naming: naming, ownModules: ownModules, memoryLimit: memoryLimit) {
      image, images in
      let access = access ?? search.access(storedBy: reader.storedFiles.map { [$0] } ?? [])
      let contents = ImageContents(images, search: search, access: access)
      let libraries = RemoteMirrorLibrary.candidates(images: images, path: toolPath)
      return (
        ReflectedLayouts(contents, image: image, snapshot: snapshot, libraries: libraries),
        ThreadFrames(contents, image: image)
      )
    }
  }

  /// With layouts from elsewhere.
  convenience init(
    _ reader: TraceReader, _ analysis: AllocationAnalysis, snapshot: TraceSnapshot, naming: any FrameNaming,
    layouts: any LayoutSource, ownModules: Set<String> = [],
    memoryLimit: MemoryLimit = .standard
  ) {
    self.init(reader, analysis, snapshot: snapshot, naming: naming, ownModules: ownModules, memoryLimit: memoryLimit) {
      _, _ in (layouts, nil)
    }
  }

  private init(
    _ reader: TraceReader, _ analysis: AllocationAnalysis, snapshot: TraceSnapshot, naming: any FrameNaming,
    ownModules: Set<String>, memoryLimit: MemoryLimit, files: HeapModel.Files
  ) {
    (self.reader, self.naming, self.ownModules) = (reader, naming, ownModules)
    let codeFacts = CodeFacts(analysis.definitions, naming: naming)
    let model = HeapModel(
      reader, analysis, snapshot: snapshot, codeFacts: codeFacts, memoryLimit: memoryLimit, files: files)
    verdicts = Verdicts(model, codeFacts: codeFacts)
  }

  /// All findings, named; library findings last. Names are looked up for findings only. If references dangle, or
  /// objects seem to have been used after their end, the trace's events are read once more.
  package func findings() -> [Finding] {
    let (findings, remark) = NamedFindings(verdicts: verdicts, names: names(), lettingGo: lettingGo).findings(
      in: reader)
    endingRemark = remark
    return findings
  }

  /// Only suspicions, of objects that outlived their siblings and of accumulating objects, by the given rules. For
  /// tools that show a rule's decisions. O(graph).
  package func suspicions(by rules: OutlivingRules) -> [Finding] {
    OutlivingBuilder(verdicts, naming: names(), rules: rules, lettingGo: lettingGo).findings()
  }

  /// Every candidate for a suspicion, listed or not, with the effects of the rules. Without a history, these are
  /// objects that registrations keep. O(graph).
  package func suspicionAccounts() -> [SuspicionAccount] {
    OutlivingBuilder(verdicts, naming: names(), lettingGo: lettingGo, log: SuspicionLog()).accounts()
  }

  /// Only findings of expectations, for an image taken when one of them was not met. `totals`: their final outcomes.
  package func expectationFindings(_ totals: [ExpectationOutcome], places: Set<MarkPlace>) -> [Finding] {
    outlivingBuilder().expectationFindings(totals, places: places)
  }

  /// Only findings of the expectations at some places. `times`: by place, the time after which an object must have
  /// become due.
  func expectationFindings(dueAfter times: [MarkPlace: UInt64]) -> [Finding] {
    outlivingBuilder().expectationFindings(places: Set(times.keys), dueAfter: times)
  }

  private func outlivingBuilder() -> OutlivingBuilder {
    OutlivingBuilder(verdicts, naming: names())
  }

  /// The names that suppressions are held against.
  package var suppressionNames: SuppressionNames {
    SuppressionNames(definitions: model.trace.definitions, naming: naming)
  }

  /// The collections that grew, those with most bytes first; none where the births of blocks are not known. Linear in
  /// the references of collections.
  package func grownCollections() -> [GrownCollection] {
    guard verdicts.hasHistory, !model.trace.definitions.process.isAttached else { return [] }
    return GrownCollections(verdicts, naming: names()).rows()
  }

  /// The blocks that leak, by node; nil if the image lacks parts, so that they are not known.
  package var leakedBlocks: NodeSet? { verdicts.finder.leaked }

  /// Returns the way that the program still has to a leaked block; nil if there is none.
  package func way(toLeaked node: NodeID) -> LeakWay? { verdicts.finder.way(to: node) }

  /// The blocks that leak, by allocation site; nil if the image lacks parts, so that they are not known. Linear in the
  /// blocks.
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

  /// The reason why the image could not be analyzed as a whole. Nil if it was.
  package var obstacle: String? { HeapRemarks(verdicts).obstacle }

  /// Sentences that a reader needs to judge the findings; complete once `findings` has been called.
  package var remarks: [String] {
    HeapRemarks(verdicts).all + (endingRemark.map { [$0] } ?? [])
  }
}
