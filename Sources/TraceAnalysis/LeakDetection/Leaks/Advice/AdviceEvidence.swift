// Facts from the heap and the events about the objects of a finding. The finding's path does not have them.

import HeapAnalysis
import TraceReading
import TraceSymbolication

/// Allocations and releases of objects, and the objects' siblings. Empty if nothing is known.
struct AdviceEvidence {
  /// A release, and the program's function that made the release.
  struct Release: Hashable {
    /// Orders releases by time: a later release has a greater number.
    var order: Int
    var place: SourceFrame?
    var function: String? { place?.closureName }
  }

  /// The first and the last event of an object so far.
  struct Life: Hashable {
    /// The program's function that made the object.
    var madeIn: String?
    var lastRelease: Release?
  }

  /// A reference that was taken and never released.
  struct OpenReference {
    var place: SourceFrame?
    /// True if the reference is the first one, from the object's allocation.
    var isAllocation: Bool
  }

  /// Counts of the blocks of one allocation site.
  struct Siblings: Hashable {
    var made: UInt64
    var freed: UInt64
  }

  static var none: AdviceEvidence { AdviceEvidence() }

  private var graph: ObjectGraph?
  private var naming: FindingNaming?
  private var lives: [RuntimeAddress: Life] = [:]
  private var open: [RuntimeAddress: OpenReference] = [:]
  private var siblings: [RuntimeAddress: Siblings] = [:]
  private var passages: [RuntimeAddress: SiblingContrast.Passage] = [:]
  /// The object that other code uses to resume a task. Keys and values are addresses; the keys are tasks.
  private var resumers: [RuntimeAddress: RuntimeAddress] = [:]
  /// Whether the trace has retains and releases, which `history` can show.
  private(set) var hasHistory = true

  private init() {}

  /// Evidence from the heap alone.
  init(_ naming: FindingNaming) { (self.graph, self.naming) = (naming.graph, naming) }

  func life(of address: RuntimeAddress) -> Life? { lives[address] }
  /// Counts for the site of a lost block. Nil unless the finding has all live blocks of the site, and other blocks of
  /// the site were freed.
  func siblings(of address: RuntimeAddress) -> Siblings? { siblings[address] }
  /// The line that the siblings of a survivor passed before they were freed.
  func passage(besides address: RuntimeAddress) -> SiblingContrast.Passage? { passages[address] }
  /// The last release of the object that other code uses to resume a task.
  func lastRelease(ofResumerOf task: RuntimeAddress) -> Release? { resumers[task].flatMap { lives[$0]?.lastRelease } }
  func openReference(of address: RuntimeAddress) -> OpenReference? { open[address] }

  func isOlder(_ address: RuntimeAddress, than other: RuntimeAddress) -> Bool {
    guard let graph, let a = node(address, graph), let b = node(other, graph) else { return false }
    return graph.birthOrder(of: a) < graph.birthOrder(of: b)
  }

  /// Returns whether a reference is in an `any P` whose protocol also allows structures. In such a value, a pointer to
  /// the type follows the buffer.
  func isInOpaqueExistential(_ step: Finding.Step, target: Finding.Step) -> Bool {
    guard let graph, let name = step.reference?.name, let source = node(step.address, graph),
      let node = node(target.address, graph),
      let metadata = graph.image.word(at: target.address.rawValue), metadata != 0
    else { return false }
    for edge in graph.graph.edges(from: source) where graph.graph.target(of: edge) == node {
      guard let label = graph.label(graph.graph.label(of: edge)), label.name == name, label.offset >= 0 else {
        continue
      }
      let offset = UInt64(label.offset) &+ UInt64(BufferedValue.bufferSize)
      return offset &+ 8 <= step.size.rawValue && graph.image.word(at: step.address.rawValue &+ offset) == metadata
    }
    return false
  }

  /// Returns whether a block leads to a weak capture of an object. The block is a task, or memory of the task's frames:
  /// the captures are in closures that the block refers to.
  func isWeaklyCaptured(_ object: RuntimeAddress, in block: RuntimeAddress) -> Bool {
    guard let graph, let object = node(object, graph), let block = node(block, graph) else { return false }
    func captures(_ node: NodeID, depth: Int) -> Bool {
      graph.graph.edges(from: node).contains { edge in
        let target = graph.graph.target(of: edge)
        if graph.graph.kind(of: edge) == EdgeStrength.weak.rawValue { return node != block && target == object }
        guard depth > 0, !graph.isRoot(target) else { return false }
        let kind = graph.type(of: target).kind
        return (kind == .closure || kind == .box) && captures(target, depth: depth - 1)
      }
    }
    return captures(block, depth: 2)
  }

  /// Returns the names of the program's classes whose objects the block refers to.
  func programTypes(referredToBy address: RuntimeAddress) -> [String] {
    guard let graph, let node = node(address, graph) else { return [] }
    var names: [String] = []
    for edge in graph.graph.edges(from: node)
    where ObjectGraph.owning.contains(EdgeKinds(kind: graph.graph.kind(of: edge))) {
      let type = graph.type(of: graph.graph.target(of: edge))
      let name = SourceNames.plain(type.name)
      if type.kind == .object, !SystemCode.isSystemModule(type.module), !names.contains(name) { names.append(name) }
    }
    return names
  }

  /// Returns the closures that an object keeps and that capture the object. All of them must release the object before
  /// the object is freed. Leaves out closures of packages, since the programmer cannot change them. Sorted by place.
  func closures(keptByAndKeeping address: RuntimeAddress) -> [SourceFrame] {
    guard let graph, let naming, let object = node(address, graph) else { return [] }
    var found: [SourceFrame] = []
    var reached: Set<NodeID> = [object]
    var pending = [object]
    while let next = pending.popLast(), reached.count < Self.reachLimit {
      for edge in graph.graph.edges(from: next) where graph.graph.kind(of: edge) == EdgeStrength.strong.rawValue {
        let target = graph.graph.target(of: edge)
        // If a closure captures only one object, the object itself is the closure's context.
        let mayHold = target == object || graph.type(of: target).kind == .closure && holds(target, object, graph)
        if mayHold, let closure = naming.closure(of: edge, from: next), !found.contains(closure),
          naming.packages.package(of: closure, among: [closure]) == nil
        {
          found.append(closure)
        }
        if reached.insert(target).inserted { pending.append(target) }
      }
    }
    return found.sorted {
      ($0.file ?? "", $0.line ?? 0, $0.closureName) < ($1.file ?? "", $1.line ?? 0, $1.closureName)
    }
  }

  /// Maximum number of objects that are searched for closures.
  private static let reachLimit = 4096

  /// Returns whether a closure captures an object, or a variable that holds the object.
  private func holds(_ closure: NodeID, _ object: NodeID, _ graph: ObjectGraph) -> Bool {
    graph.graph.edges(from: closure).contains { edge in
      guard graph.graph.kind(of: edge) == EdgeStrength.strong.rawValue else { return false }
      let target = graph.graph.target(of: edge)
      if target == object { return true }
      return graph.type(of: target).kind == .box
        && graph.graph.edges(from: target).contains {
          graph.graph.kind(of: $0) == EdgeStrength.strong.rawValue && graph.graph.target(of: $0) == object
        }
    }
  }

  private func node(_ address: RuntimeAddress, _ graph: ObjectGraph) -> NodeID? {
    graph.heap.block(containing: address.rawValue).flatMap {
      graph.heap[$0].address == address.rawValue ? $0.rawValue : nil
    }
  }

  // MARK: Events

  /// Maximum number of objects whose events are collected. For other objects, only the heap is used.
  private static let objectLimit = 2_000

  /// Adds facts from the retains and releases for some kinds of findings. These are cycles that closures do not
  /// explain, lost objects, tasks that no code resumes, and survivors whose siblings were freed. Reads the events once
  /// more if there are such findings.
  mutating func add(_ findings: [Finding], _ model: HeapModel, _ reader: TraceReader, _ naming: any FrameNaming) {
    guard let graph else { return }
    hasHistory = !reader.header.lacksHistory
    var nodes: Set<NodeID> = []
    func include(_ step: Finding.Step) {
      guard nodes.count < Self.objectLimit, let node = node(step.address, graph) else { return }
      nodes.insert(node)
    }
    for finding in findings where !finding.isLibrary {
      if finding.verdict == .lost, let step = finding.path.first, let node = node(step.address, graph) {
        let site = Int(graph.heap[BlockID(node)].site.rawValue)
        let lifetime = model.trace.sites.indices.contains(site) ? model.trace.sites[site].lifetime : SiteLifetime()
        if lifetime.deaths > 0, lifetime.births >= lifetime.deaths,
          lifetime.births - lifetime.deaths == UInt64(clamping: finding.instances)
        {
          siblings[step.address] = Siblings(made: lifetime.births, freed: lifetime.deaths)
        }
      }
      if finding.verdict == .lost, let step = finding.path.first, step.kind.isCounted { include(step) }
      if finding.verdict == .retainCycle, CycleCut(finding, self).capture == nil {
        for step in finding.path where step.kind == .object { include(step) }
      }
      if finding.verdict == .suspended, let task = finding.path.first, let node = node(task.address, graph),
        let resumer = Self.resumer(of: node, graph), nodes.count < Self.objectLimit
      {
        resumers[task.address] = RuntimeAddress(graph.heap[BlockID(resumer)].address)
        nodes.insert(resumer)
      }
    }
    let sites = siblingSites(findings, model, graph)
    guard !nodes.isEmpty || !sites.isEmpty else { return }
    let found = RetainHistory.collect(
      blocks: nodes.map { graph.heap[BlockID($0)] }, sites: Set(sites.values.joined()), until: model.snapshot.time,
      in: reader)
    let histories = found.histories
    let places = RetainPlaces(model.trace.definitions, naming: naming)
    let contrast = SiblingContrast { places.reportFrames(of: $0).frames.map(\.source) }
    for (address, sites) in sites {
      passages[address] = contrast.passage(
        found.shapes.lazy.filter { sites.contains($0.value.first.block.site) }.map {
          ($0.key, $0.value.blocks, $0.value.first.isFreed)
        })
    }
    for (order, history) in histories.enumerated() {
      let address = RuntimeAddress(history.block.address)
      guard let first = history.events.first, let node = node(address, graph) else { continue }
      func function(of stack: StackID, allocating type: String = "") -> SourceFrame? {
        let number = places.place(of: stack, allocating: type)
        return places.named[number].function
      }
      let release = history.events.last { $0.change < 0 }.map {
        Release(order: order, place: function(of: $0.stack))
      }
      lives[address] = Life(
        madeIn: function(of: first.stack, allocating: SourceNames.plain(graph.type(of: node).name))?.closureName,
        lastRelease: release)
      open[address] = openReference(history, graph, places)
    }
  }

  private typealias SitesByAddress = [RuntimeAddress: Set<SiteID>]

  /// Returns the allocation sites of each survivor that a finding shows, and of its siblings. The key is the survivor's
  /// address. One function contains all sites of a survivor, and some objects of these sites were freed.
  private func siblingSites(_ findings: [Finding], _ model: HeapModel, _ graph: ObjectGraph) -> SitesByAddress {
    guard hasHistory, let naming else { return [:] }
    let asked = findings.compactMap { finding -> (address: RuntimeAddress, node: NodeID, site: Int)? in
      guard !finding.isLibrary, case .suspected = finding.evidence, let step = finding.path.last, step.kind == .object,
        let node = node(step.address, graph)
      else { return nil }
      let site = Int(graph.heap[BlockID(node)].site.rawValue)
      return model.sites.indices.contains(site) ? (step.address, node, site) : nil
    }
    if asked.isEmpty { return [:] }
    var sitesByType: [UInt32: [Int]] = [:]
    for each in asked { sitesByType[model.sites[each.site].type] = [] }
    for (index, site) in model.sites.enumerated() where site.operation == .object {
      sitesByType[site.type]?.append(index)
    }
    var result: SitesByAddress = [:]
    for each in asked {
      let type = graph.type(of: each.node)
      let place = naming.allocation(of: each.node)?.function
      let sites = (sitesByType[model.sites[each.site].type] ?? []).filter { index in
        index == each.site || naming.allocation(SiteID(UInt32(index)), of: type)?.function == place
      }
      if sites.contains(where: { model.sites[$0].deaths > 0 }) {
        result[each.address] = Set(sites.map { SiteID(UInt32($0)) })
      }
    }
    return result
  }

  /// Returns the library's object that code uses to resume a suspended task, such as a stream's storage. The task keeps
  /// this object. Returns nil if there is no such object, or more than one.
  private static func resumer(of task: NodeID, _ graph: ObjectGraph) -> NodeID? {
    var found: NodeID?
    var seen: Set<NodeID> = [task]
    var pending = [task]
    while let node = pending.popLast(), seen.count < reachLimit {
      for edge in graph.graph.edges(from: node)
      where ObjectGraph.owning.contains(EdgeKinds(kind: graph.graph.kind(of: edge))) {
        let target = graph.graph.target(of: edge)
        guard !graph.isRoot(target), seen.insert(target).inserted else { continue }
        pending.append(target)
        guard graph.type(of: target).kind == .object,
          Registrations.resumers.matches(graph.type(of: target).qualifiedName),
          leads(target, to: task, graph)
        else { continue }
        if found != nil { return nil }
        found = target
      }
    }
    return found
  }

  /// Returns whether an object refers to a task, directly or through its collections.
  private static func leads(_ object: NodeID, to task: NodeID, _ graph: ObjectGraph) -> Bool {
    graph.graph.edges(from: object).contains { edge in
      let target = graph.graph.target(of: edge)
      return target == task
        || !graph.isRoot(target) && graph.type(of: target).kind.isCollection
          && graph.graph.edges(from: target).contains { graph.graph.target(of: $0) == task }
    }
  }

  /// Returns the last reference that pairing leaves without a release.
  private func openReference(_ history: BlockHistory, _ graph: ObjectGraph, _ places: RetainPlaces) -> OpenReference? {
    guard history.events.count <= Self.pairedEvents, history.balance > 0,
      let node = node(RuntimeAddress(history.block.address), graph)
    else { return nil }
    let type = SourceNames.plain(graph.type(of: node).name)
    let numbers = history.events.enumerated().map { places.place(of: $1.stack, allocating: $0 == 0 ? type : "") }
    let steps = zip(history.events, numbers).enumerated().map {
      RetainPairing.Step(place: $1.1, change: $1.0.change, isAllocation: $0 == 0)
    }
    let left = RetainPairing(steps, places: places.places, activations: places.activations).left
    guard let index = left.indices.last(where: { left[$0] > 0 && steps[$0].change > 0 }) else { return nil }
    let place = places.named[numbers[index]].function
    return OpenReference(place: place, isAllocation: index == 0)
  }

  /// Maximum length of a history that is paired. Pairing a longer history takes several seconds.
  private static let pairedEvents = 20_000
}
