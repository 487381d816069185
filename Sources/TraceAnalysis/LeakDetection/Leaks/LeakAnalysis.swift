// From a trace with a heap image to findings.

import HeapAnalysis
import PlatformRules
import TraceReading
import TraceSymbolication

/// The leaks of one snapshot of one trace. For one thread at a time.
package final class LeakAnalysis {
  package let snapshot: TraceSnapshot
  package let graph: ObjectGraph
  package private(set) var diagnostics: TraceDiagnostics
  let definitions: TraceDefinitions
  private let siteKeys: [SiteKey]
  let sites: AllocationSites
  package let statements: ProgramStatements
  /// Calls that the trace lacks.
  package let gaps: TraceGaps
  /// Threads that are not in the image may have held its blocks: the process is a copy of one that had several.
  let lacksThreads: Bool
  let activations: Activations
  let threads: [ThreadTotal]
  let startTime: UInt64
  let clock: TraceClock
  let memorySamples: [MemorySample]
  let finder: LeakFinder
  private let naming: any FrameNaming
  let reader: TraceReader
  private let suspects: Set<UInt64>
  private let sampledStacks: [UInt64: StackID]
  private let ownModules: Set<String>
  private var endingRemark: String?

  /// Builds the graph of `snapshot` and looks for leaks in it. `analysis` must have been made with the same snapshot.
  /// Linear in the live blocks and the image's words. Files of images are looked for as symbols are;
  /// `toolPath`: directories that may hold a Swift toolchain, as in PATH; `ownModules`: Swift modules that are the
  /// program's own, if folders do not tell; `naming` gives names to what is found, and only to that.
  package convenience init(
    _ reader: TraceReader, _ analysis: AllocationAnalysis, snapshot: TraceSnapshot,
    search: DebugFileSearch = DebugFileSearch(),
    access: any SymbolFileAccess = LocalSymbolFiles(), toolPath: String = "", memoryLimit: MemoryLimit = .standard,
    ownModules: Set<String> = [], naming: any FrameNaming
  ) {
    self.init(reader, analysis, snapshot: snapshot, naming: naming, ownModules: ownModules, memoryLimit: memoryLimit) {
      image, images in
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
    ownModules: Set<String>, memoryLimit: MemoryLimit,
    files: (HeapImage, [LoadedImage]) -> (layouts: any LayoutSource, frames: ThreadFrames?)
  ) {
    self.snapshot = snapshot
    self.naming = naming
    self.ownModules = ownModules
    self.reader = reader
    suspects = analysis.suspects
    definitions = analysis.definitions
    sites = analysis.sites
    gaps = analysis.gaps
    clock = analysis.clock
    memorySamples = analysis.memorySamples
    threads = analysis.threads
    startTime = analysis.header.startTime
    var diagnostics = TraceDiagnostics()
    let image = HeapImage(snapshot, in: reader, limit: memoryLimit, diagnostics: &diagnostics)
    self.diagnostics = diagnostics
    let heap = LiveHeap(analysis.blocksAtSnapshot)
    let images = definitions.images.filter {
      $0.loadTime <= snapshot.time && ($0.unloadTime.map { $0 > snapshot.time } ?? true)
    }.map(\.image)
    let (layouts, frames) = files(image, images)
    let roots = HeapRoots(
      snapshot, images: images, heap: heap, image: image, gaps: analysis.gaps,
      waitingCode: { Self.waitingCode($0, $1, naming) },
      frames: { [definitions] thread in
        // Where it was unwound with all of its registers, there is no more to be known.
        if let stack = definitions.threadStacks[UInt64(thread.osThread)], stack.end == .complete {
          return stack.frames.map(\.key.address.rawValue)
        }
        return frames?.addresses(of: thread)
      })
    let keys = analysis.sites.map { SiteKey(operation: $0.operation, stack: $0.stack, type: $0.type) }
    siteKeys = keys
    sampledStacks = analysis.sampledStacks
    let types = definitions.types
    let contents = BlockContentsByAllocator(definitions, naming: naming)
    let hasListedBlocks = analysis.header.lacksHistory || definitions.process.isAttached
    func isListed(_ block: LiveBlock) -> Bool { hasListedBlocks && keys[Int(block.site.rawValue)].stack == .empty }
    // Of what the events tell, nothing was there before the fork; the allocator's books have all.
    lacksThreads = definitions.process.lacksThreads && snapshot.isListed
    let typeTables =
      hasListedBlocks
      ? TypeRecordTables(heap: heap, image: image, roots: roots, naming: naming, isListed: isListed) : nil
    graph = ObjectGraphBuilder.build(
      snapshot, heap: heap, image: image, roots: roots,
      typeOf: { block in
        let key = keys[Int(block.site.rawValue)]
        return (key.operation == .object ? types[key.type] : nil, key.operation)
      },
      contents: {
        typeTables?.contains($0) == true
          ? .typeRecords : contents.contents(ofBlocksAllocatedBy: keys[Int($0.site.rawValue)].stack)
      }, layouts: layouts,
      mainModule: moduleName(ofImage: definitions.process.executable), gaps: analysis.gaps,
      lacksThreads: lacksThreads, isListed: isListed)
    let initialization = OneTimeInitialization(definitions, naming: naming)
    statements = analysis.statements.without(graph) { initialization.made(keys[Int($0.site.rawValue)].stack) }
    activations = Self.left(analysis.activationsAtSnapshot, snapshot, graph.roots, definitions)
    let abandoned = AbandonedValues(
      graph: graph, sites: sites, stacks: definitions.stacks, activations: activations,
      isProgramFunction: { [definitions] frame in
        naming.frames(for: frame.key, in: frame.image.map { definitions.images[$0].image }).contains {
          $0.kind == .user && !DeclarationName.isInitialiser($0.function)
        }
      },
      isLive: Self.liveStrands(activations, snapshot, definitions, mainThread: UInt64(analysis.header.processID)))
    finder = LeakFinder(
      graph, isListed: isListed, isImageAlone: analysis.header.lacksHistory, abandoned: abandoned.nodes)
  }

  /// Returns a test for strands whose functions may still run: those of a thread that has ended do not.
  private static func liveStrands(
    _ activations: Activations, _ snapshot: TraceSnapshot, _ definitions: TraceDefinitions, mainThread: UInt64
  ) -> (StrandID) -> Bool {
    // The main thread may have ended by `dispatchMain`, behind which nothing is given up.
    let live = Set(snapshot.threads.map { UInt64($0.osThread) }).union([mainThread])
    let ended = Set(
      definitions.threads.lazy.filter { !live.contains($0.osThread) }.compactMap { activations.ownStrands[$0.thread] })
    return { !ended.contains($0) }
  }

  /// A thread that is about to end the process, called by the C library, has returned from the program's main function.
  private static func left(
    _ activations: Activations, _ snapshot: TraceSnapshot, _ roots: HeapRoots, _ definitions: TraceDefinitions
  ) -> Activations {
    guard snapshot.reason == .exit, let thread = snapshot.threads.first(where: \.isSelf),
      let image = roots.image(at: thread.instructionPointer),
      SystemCode.isSystemImage(image.path),
      let record = definitions.threads.first(where: { $0.osThread == UInt64(thread.osThread) })
    else { return activations }
    return activations.leaving(thread: record.thread)
  }

  /// All findings, named; library findings last. Names are looked up for what is found only. If references dangle, or
  /// objects seem to have been used after their end, the trace's events are read once more.
  package func findings() -> [Finding] {
    let names = self.names()
    let (groups, remark) = EndedObjects.groups(of: finder, in: reader, suspects: suspects, gaps: gaps)
    endingRemark = remark
    let builder = FindingBuilder(finder, groups: groups, naming: names)
    let outliving = OutlivingBuilder(self, naming: names)
    let stated = outliving.scopeFindings() + outliving.expectationFindings()
    // The program's own statement about an object takes precedence over a conclusion.
    // One image has no history to conclude from.
    let concluded = (reader.header.lacksHistory ? [] : outliving.findings()).filter { finding in
      !stated.contains {
        $0.path.last?.qualifiedType == finding.path.last?.qualifiedType
          && $0.evidence.retention?.holder == finding.evidence.retention?.holder
      }
    }
    var findings = FindingBuilder.sorted(builder.findings() + stated + concluded)
    var evidence = AdviceEvidence(names)
    evidence.add(findings, self, reader, naming)
    for index in findings.indices where findings[index].evidence.retention == nil {
      findings[index].advice = Advice.advice(for: findings[index], evidence)
    }
    return findings
  }

  /// Suspicions alone, of objects that outlived their siblings and of what accumulates, by rules of one's own. For tools
  /// that show what a rule decides. O(graph).
  package func suspicions(by rules: OutlivingRules) -> [Finding] {
    OutlivingBuilder(self, naming: names(), rules: rules).findings()
  }

  /// Every candidate for a suspicion, listed or not, with the effects of the rules. Nil where the trace has no history to
  /// suspect anything by. O(graph).
  package func suspicionAccounts() -> [SuspicionAccount]? {
    guard !reader.header.lacksHistory else { return nil }
    return OutlivingBuilder(self, naming: names(), log: SuspicionLog()).accounts()
  }

  /// Findings of expectations alone, of the image of a time at which one of them was not met. `totals`: what came of
  /// them in the end.
  package func expectationFindings(_ totals: [ExpectationOutcome], places: Set<MarkPlace>) -> [Finding] {
    outlivingBuilder().expectationFindings(totals, places: places)
  }

  /// Findings of expectations of some places alone: of the objects that became due after a time, which is by place.
  func expectationFindings(dueAfter times: [MarkPlace: UInt64]) -> [Finding] {
    outlivingBuilder().expectationFindings(places: Set(times.keys), dueAfter: times)
  }

  private func outlivingBuilder() -> OutlivingBuilder {
    OutlivingBuilder(self, naming: names())
  }

  /// Returns the names that a suppression's pattern is held against: types, functions, modules, images and source files
  /// on the path and in the stacks of its allocations.
  package func suppressionNames(of finding: Finding) -> [String] {
    var names: Set<String> = []
    func add(_ frame: SourceFrame) {
      names.insert(frame.function)
      names.insert(frame.fullFunction)
      for name in [frame.mangledName, frame.file, frame.imagePath] { if let name { names.insert(name) } }
    }
    if case .dangling(let ending?) = finding.evidence {
      names.insert(ending.type)
      names.insert(ending.qualifiedType)
      for moment in [ending.allocated, ending.freed, ending.used] { moment?.frames.forEach(add) }
    }
    for step in finding.path {
      names.insert(step.type)
      names.insert(step.qualifiedType)
      if let function = step.function { add(function) }
      if let closure = step.reference?.closure { add(closure) }
      for frame in definitions.stacks.path(of: step.stack).frames {
        naming.frames(for: frame.key, in: frame.image.map { definitions.images[$0].image }).forEach(add)
      }
    }
    return names.sorted()
  }

  /// Threads of libdispatch's pools wait in libdispatch and the C library; in a program with the libraries inside,
  /// their names tell.
  private static func waitingCode(_ address: UInt64, _ image: LoadedImage, _ naming: any FrameNaming) -> WaitingCode {
    if let known = waitingImages.statement(for: fileName(ofPath: image.path)) { return waitingCode(known) }
    if SystemCode.isSystemImage(image.path) { return .other }
    let frame = naming.frames(
      for: FrameKey(address: RuntimeAddress(address), isExact: false, isAsync: false), in: image
    ).last
    guard let function = frame?.mangledName else { return .other }
    return waitingFunctions.statement(for: function).map(waitingCode) ?? .other
  }

  private static let waitingImages = RuleBook.shipped.table(.waitsIn, by: .image)
  private static let waitingFunctions = RuleBook.shipped.table(.waitsIn, by: .symbol)

  /// The statement of a rule.
  private static func waitingCode(_ statement: String) -> WaitingCode {
    switch statement {
    case "pool": .pool
    case "c-library": .cLibrary
    case "runtime": .runtime
    default: .other
    }
  }

  /// The collections that grew, those with most bytes first; none where the births of blocks are not known. Linear in
  /// the references of collections.
  package func grownCollections() -> [GrownCollection] {
    guard !reader.header.lacksHistory, !definitions.process.isAttached else { return [] }
    return GrownCollections(
      graph, naming: names(), unreachable: finder.unreachable, sites: sites, lastOrdinal: activations.ordinal
    ).rows()
  }

  /// The blocks that leak, by node; nil if the image lacks parts, so that nobody knows.
  package var leakedBlocks: NodeSet? { finder.leaked }

  /// Returns the way that the program still has to a leaked block; nil if there is none.
  package func way(toLeaked node: NodeID) -> LeakWay? { finder.way(to: node) }

  /// The blocks that leak, by allocation site; nil if the image lacks parts, so that nobody knows. Linear in the blocks.
  package func leakedBySite() -> [SiteID: BlockSum]? {
    guard let leaked = finder.leaked else { return nil }
    var sums: [SiteID: BlockSum] = [:]
    leaked.forEach { node in
      let block = graph.heap[BlockID(node)]
      sums[block.site, default: BlockSum()].add(block.size)
    }
    return sums
  }

  func names() -> FindingNaming {
    let names = FindingNaming(
      graph, definitions: definitions, clock: clock, sites: siteKeys, naming: naming,
      frameLimit: reader.limits.namedFrames, ownModules: ownModules, sampledStacks: sampledStacks)
    names.threads = ThreadNames(definitions, activations: activations, mainThread: UInt64(reader.header.processID)) {
      [definitions, naming] key in naming.frames(for: key, in: definitions.image(at: key.lookupAddress))
    }
    return names
  }

  /// Sentences that a reader needs to judge the findings; complete once `findings` has been called.
  package var remarks: [String] {
    var remarks: [String] = []
    if !graph.isWhole { remarks.append(incompleteness) }
    remarks += gapRemarks
    if !snapshot.isFrozen {
      remarks.append(
        "other threads could not be stopped for the heap image: references that moved may look lost, and stale words on stacks may hide leaks"
      )
    }
    if let problem = graph.reflectionProblem {
      remarks.append("fields have no names (\(problem)): every word that looks like a pointer counts as a reference")
    } else if !graph.scannedTypes.isEmpty {
      let names = graph.scannedTypes.prefix(3).map { graph.types[$0].name }.joined(separator: ", ")
      let more = graph.scannedTypes.count > 3 ? " and \(graph.scannedTypes.count - 3) more" : ""
      remarks.append("unknown fields in \(names)\(more): every word that looks like a pointer counts as a reference")
    }
    remarks += graph.runtimeRemarks
    if let endingRemark { remarks.append(endingRemark) }
    return remarks
  }
}
