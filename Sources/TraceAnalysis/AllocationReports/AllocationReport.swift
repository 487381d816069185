// The contents of `leaktrace analyze`'s report, as a value: everything chosen, sorted and named, nothing formatted.

import TraceReading
import TraceSymbolication

/// The sites that a report shows, and their order.
package struct ReportSelection: Hashable, Sendable {
  package enum Order: String, CaseIterable, Hashable, Sendable {
    case live, peak, total, temporary, objects, retains

    package func value(of total: SiteTotal) -> UInt64 {
      switch self {
      case .live: total.liveBytes
      case .peak: total.peakBytes
      case .total: total.allocatedBytes
      case .temporary: total.temporaryBlocks
      case .objects: total.allocatedBlocks
      case .retains: total.retains
      }
    }
  }

  /// The unit of a row of the report.
  package enum Grouping: Hashable, Sendable {
    /// A call stack: an allocation site.
    case stack
    /// All sites of one type and one function of the program's, whoever called it and however deep it recursed. Memory
    /// that C libraries keep for themselves comes last.
    case function
  }

  package var order: Order = .live
  package var grouping: Grouping = .stack
  /// Sites to show; nil for all.
  package var limit: Int? = 10
  /// A site is shown if any of its frames is of an image or Swift module that one of these matches. None: all are
  /// shown.
  package var modules: [NamePattern] = []
  /// The same for functions.
  package var functions: [NamePattern] = []
  /// A site is shown if its type's name, or the allocating function's for other blocks, matches one of these.
  package var types: [NamePattern] = []

  package init() {}

  package var filters: Bool { !modules.isEmpty || !functions.isEmpty || !types.isEmpty }
}

/// A site that a report shows.
package struct ReportSite: Hashable, Sendable {
  package var operation: Operation
  /// The type's name, or that of the function that allocated.
  package var type: String
  package var total: SiteTotal
  /// Innermost first, inlined ones apart.
  package var frames: [ReportFrame]
  package var end: StackPath.End
  /// Sites that are joined here; the one with most is shown.
  package var stackCount = 1

  package init(
    operation: Operation, type: String, total: SiteTotal, frames: [ReportFrame], end: StackPath.End, stackCount: Int = 1
  ) {
    self.operation = operation
    self.type = type
    self.total = total
    self.frames = frames
    self.end = end
    self.stackCount = stackCount
  }

  /// Index of the innermost frame that is the program's own; nil if there is none.
  package var userFrame: Int? { frames.firstIndex { $0.source.kind == .user } }
}

/// One trace, as a report's head tells of it.
package struct ReportTrace: Sendable {
  package var path: String
  package var analysis: AllocationAnalysis

  package init(path: String, analysis: AllocationAnalysis) {
    self.path = path
    self.analysis = analysis
  }

  /// The program's path; the trace's if it does not say.
  package var program: String {
    analysis.definitions.process.executable.isEmpty ? path : analysis.definitions.process.executable
  }
}

/// The allocations of one trace, or of several together.
package struct AllocationReport: Sendable {
  package var traces: [ReportTrace]
  package var selection: ReportSelection
  /// Over all sites.
  package var total: SiteTotal
  /// Over those that the filters let through.
  package var matchingTotal: SiteTotal
  package var matchingCount: Int
  package var siteCount: Int
  /// Rows that there are to show: sites that the filters let through, or groups of those among them that have something
  /// of what they are sorted by.
  package var rowCount: Int
  /// Call stacks in these rows.
  package var joinedStackCount: Int
  package var sites: [ReportSite]
  /// Sums of the sites that the filters let through, those that are not shown included; most by the order's key first.
  package var types: [AllocationAnalysis.NamedTotal]
  package var operations: [AllocationAnalysis.NamedTotal]
  /// Of light recordings, by what was estimated.
  package var estimates: [EstimatedSite]
  /// Those that are not shown included.
  package var estimateCount: Int
  /// Where threads stood, of inspections.
  package var threads: [ReportThread]
  /// The reasons why frames could not be named.
  package var namingRemarks: [String]

  /// Nothing is known but the blocks of a moment: they have types, and most have no places.
  package var lacksHistory: Bool { !traces.isEmpty && traces.allSatisfy(\.analysis.header.lacksHistory) }

  /// Chooses, sorts and names. Names are looked up for the shown sites only, unless a filter asks for those of all.
  /// Equal sites of several traces (by image and link-time addresses) are one; their peaks are each process's own,
  /// added up.
  package init(_ traces: [ReportTrace], selection: ReportSelection = ReportSelection(), naming: any FrameNaming) {
    self.traces = traces
    self.selection = selection
    var candidates = Candidates(traces)
    var identities = SiteIdentities()
    var forest = StackForest()
    var total = SiteTotal()
    var names = SiteTypeNames(selection)
    for (number, trace) in traces.enumerated() {
      let filter = StackFilter(trace.analysis.definitions, naming: naming, selection: selection)
      let nodes = forest.take(trace.analysis.definitions, isOnly: traces.count == 1)
      names.begin(trace.analysis)
      for site in trace.analysis.sites {
        let siteTotal = site.total
        total += siteTotal
        let type = names.number(of: site)
        let stack = nodes.map { $0[Int(site.stack.rawValue)] } ?? site.stack.rawValue
        let identity = identities.index(operation: site.operation, type: type, stack: Int(stack))
        guard names.isMatching(type), filter.matches(site.stack) else { continue }
        if let candidate = identities.candidate(of: identity) {
          candidates.merge(siteTotal, into: candidate)
        } else {
          identities.setCandidate(candidates.count, of: identity)
          candidates.append(site.number, ofTrace: number, type: type)
        }
      }
    }
    self.total = total
    matchingCount = candidates.count
    siteCount = traces.count > 1 ? identities.count : traces.first.map { $0.analysis.sites.count } ?? 0

    var sums = CandidateSums(typeCount: names.count)
    var ranking: [Rank] = []
    ranking.reserveCapacity(candidates.count)
    var groups = selection.grouping == .function ? SiteGroups(traces, naming: naming) : nil
    let order = selection.order
    for index in 0..<candidates.count {
      let total = candidates.total(index)
      sums.add(total, type: candidates.type(index), operation: candidates.site(index).operation)
      // A site that has nothing of what is asked for is not worth its lines.
      let value = order.value(of: total)
      guard value > 0 else { continue }
      groups?.add(
        total, value: value, candidate: index, type: candidates.type(index), candidates.site(index),
        ofTrace: candidates.trace(index))
      if groups == nil { ranking.append(Rank(value: value, allocatedBytes: total.allocatedBytes, candidate: index)) }
    }
    matchingTotal = sums.whole
    types = sums.types(order, names)
    operations = sums.operations(order)

    rowCount = groups?.all.count ?? candidates.count
    joinedStackCount = groups?.stackCount ?? candidates.count
    if let groups {
      ranking = groups.all.enumerated().map { index, group in
        Rank(
          isLast: group.isOfCLibrary, value: order.value(of: group.total), allocatedBytes: group.total.allocatedBytes,
          candidate: group.candidate, group: index)
      }
    }
    ranking.sort { Self.precedes($0, $1, candidates, names) }
    sites = ranking.prefix(selection.limit ?? ranking.count).map { rank in
      let site = candidates.site(rank.candidate)
      let definitions = traces[candidates.trace(rank.candidate)].analysis.definitions
      let path = definitions.stacks.path(of: site.stack)
      let frames = path.frames.flatMap { frame in
        naming.frames(for: frame.key, in: frame.image.map { definitions.images[$0].image })
          .map { ReportFrame(address: frame.key.address, source: $0) }
      }
      let group = rank.group.flatMap { groups?.all[$0] }
      return ReportSite(
        operation: site.operation, type: names[candidates.type(rank.candidate)],
        total: group?.total ?? candidates.total(rank.candidate), frames: frames, end: path.end,
        stackCount: group?.siteCount ?? 1)
    }
    threads = traces.flatMap { ReportThread.threads($0.analysis, naming: naming) }
    let estimated = traces.map { EstimatedSite.sites($0, selection: selection, naming: naming) }
    estimates = estimated.flatMap(\.shown)
    estimateCount = estimated.reduce(0) { $0 + $1.count }
    namingRemarks = naming.remarks
  }

  /// The key by which the report sorts sites.
  private struct Rank {
    /// It comes after all that are not so, whatever its value.
    var isLast = false
    /// Of what the order goes by.
    var value: UInt64
    var allocatedBytes: UInt64
    var candidate: Int
    var group: Int?
  }

  private static func precedes(_ a: Rank, _ b: Rank, _ candidates: Candidates, _ names: SiteTypeNames) -> Bool {
    if a.isLast != b.isLast { return b.isLast }
    if a.value != b.value { return a.value > b.value }
    if a.allocatedBytes != b.allocatedBytes { return a.allocatedBytes > b.allocatedBytes }
    let (x, y) = (candidates.site(a.candidate), candidates.site(b.candidate))
    let (traceX, traceY) = (candidates.trace(a.candidate), candidates.trace(b.candidate))
    if (traceX, x.stack) != (traceY, y.stack) { return (traceX, x.stack) < (traceY, y.stack) }
    return (names[candidates.type(a.candidate)], x.operation.rawValue) < (
      names[candidates.type(b.candidate)], y.operation.rawValue
    )
  }
}

/// Sites joined by type and function of the program's: those that have something of what the report is sorted by. Most
/// of a long run's sites have nothing live, and their frames would all have to be named.
private struct SiteGroups {
  struct Group {
    var total: SiteTotal
    var siteCount: Int
    /// The one with most, and of equal ones the first.
    var candidate: Int
    var value: UInt64
    var isOfCLibrary: Bool
  }

  private struct Key: Hashable {
    var type: Int
    var operation: Operation
    var owner: SiteOwner
    /// Stacks of several traces have numbers of their own.
    var trace: Int
  }

  private var functions: [SiteFunctions]
  private var numbers: [Key: Int] = [:]
  private(set) var all: [Group] = []
  private(set) var stackCount = 0

  init(_ traces: [ReportTrace], naming: any FrameNaming) {
    functions = traces.map { SiteFunctions($0.analysis.definitions, naming: naming) }
  }

  mutating func add(
    _ total: SiteTotal, value: UInt64, candidate: Int, type: Int, _ site: AllocationSite, ofTrace trace: Int
  ) {
    stackCount += 1
    let owner = functions[trace].owner(ofStack: site.stack)
    var isOfCLibrary = false
    var key = Key(type: type, operation: site.operation, owner: owner, trace: trace)
    switch owner {
    case .function: key.trace = -1
    case .library: break
    case .cLibrary: isOfCLibrary = true
    }
    guard let known = numbers[key] else {
      numbers[key] = all.count
      all.append(Group(total: total, siteCount: 1, candidate: candidate, value: value, isOfCLibrary: isOfCLibrary))
      return
    }
    all[known].total += total
    all[known].siteCount += 1
    if value > all[known].value { (all[known].value, all[known].candidate) = (value, candidate) }
  }
}

/// The sites that the filters let through. A site's data stays in its trace's tables, but for sums of several.
private struct Candidates {
  private struct Candidate {
    var trace: UInt32
    var site: SiteID
    /// In `SiteTypeNames`.
    var type: UInt32
  }

  private let traces: [ReportTrace]
  private var all: [Candidate] = []
  private var sums: [Int: SiteTotal] = [:]

  init(_ traces: [ReportTrace]) { self.traces = traces }

  var count: Int { all.count }

  mutating func append(_ site: SiteID, ofTrace trace: Int, type: Int) {
    all.append(Candidate(trace: UInt32(trace), site: site, type: UInt32(type)))
  }

  mutating func merge(_ total: SiteTotal, into index: Int) {
    let own = site(index).total
    sums[index, default: own] += total
  }

  func trace(_ index: Int) -> Int { Int(all[index].trace) }
  func type(_ index: Int) -> Int { Int(all[index].type) }
  /// The first of those that are one here.
  func site(_ index: Int) -> AllocationSite { traces[trace(index)].analysis.sites[Int(all[index].site.rawValue)] }
  func total(_ index: Int) -> SiteTotal { sums[index] ?? site(index).total }
}

/// Sums over candidates: of all, by type, by operation.
private struct CandidateSums {
  private(set) var whole = SiteTotal()
  private var byType: [SiteTotal?]
  private var byOperation: [SiteTotal?] = Array(repeating: nil, count: Int(UInt8.max) + 1)

  init(typeCount: Int) { byType = Array(repeating: nil, count: typeCount) }

  mutating func add(_ total: SiteTotal, type: Int, operation: Operation) {
    whole += total
    byType[type, default: SiteTotal()] += total
    byOperation[Int(operation.rawValue), default: SiteTotal()] += total
  }

  func types(_ order: ReportSelection.Order, _ names: SiteTypeNames) -> [AllocationAnalysis.NamedTotal] {
    Self.named(byType, order) { names[$0] }
  }
  func operations(_ order: ReportSelection.Order) -> [AllocationAnalysis.NamedTotal] {
    Self.named(byOperation, order) { Operation(rawValue: UInt8($0)).name }
  }

  /// Those of one name are one.
  private static func named(_ sums: [SiteTotal?], _ order: ReportSelection.Order, name: (Int) -> String)
    -> [AllocationAnalysis.NamedTotal]
  {
    var named: [String: SiteTotal] = [:]
    for (number, sum) in sums.enumerated() { if let sum { named[name(number), default: SiteTotal()] += sum } }
    return named.map { AllocationAnalysis.NamedTotal(name: $0.key, total: $0.value) }.sorted {
      (order.value(of: $1.total), $1.total.allocatedBytes, $0.name) < (
        order.value(of: $0.total), $0.total.allocatedBytes, $1.name
      )
    }
  }
}

extension Array {
  /// The element at an index that holds an optional, or what stands in for nil.
  fileprivate subscript<Value>(_ index: Int, default value: Value) -> Value where Element == Value? {
    get { self[index] ?? value }
    set { self[index] = newValue }
  }
}

/// The names of the types of sites, each once, and which of them were asked for.
private struct SiteTypeNames {
  private let patterns: [NamePattern]
  private var names: [String] = []
  private var areMatching: [Bool] = []
  private var numbers: [String: Int] = [:]
  /// Of the present trace, by what decides a site's type name.
  private var known: [UInt64: Int] = [:]
  private var analysis: AllocationAnalysis?

  init(_ selection: ReportSelection) { patterns = selection.types }

  mutating func begin(_ analysis: AllocationAnalysis) {
    self.analysis = analysis
    known.removeAll()
  }

  mutating func number(of site: AllocationSite) -> Int {
    let key = UInt64(site.operation.rawValue) << 32 | UInt64(site.type)
    if let number = known[key] { return number }
    let name = analysis?.typeName(of: site) ?? ""
    let number = numbers[name] ?? names.count
    if number == names.count {
      numbers[name] = number
      names.append(name)
      areMatching.append(patterns.isEmpty || patterns.contains { $0.matches(name) })
    }
    known[key] = number
    return number
  }

  func isMatching(_ number: Int) -> Bool { areMatching[number] }
  var count: Int { names.count }
  subscript(_ number: Int) -> String { names[number] }
}

/// Numbers sites by operation, type and stack: those of one stack hang together, as long as they are few.
private struct SiteIdentities {
  private struct Identity: Hashable {
    var operation: Operation
    var type: Int32
    var stack: Int32
  }

  /// Sites of one stack that are looked through one by one.
  private static let chainLimit = 16
  private struct Row {
    var operation: Operation
    var type: Int32
    /// Row of another site of the same stack, and index of the site's candidate; −1 for none.
    var next: Int32
    var candidate: Int32 = -1
  }
  private var rows: [Row] = []
  private var firstByStack: [Int32] = []
  /// Those of stacks that have more.
  private var others: [Identity: Int32] = [:]

  var count: Int { rows.count }

  mutating func index(operation: Operation, type: Int, stack: Int) -> Int {
    if stack >= firstByStack.count {
      firstByStack.append(
        contentsOf: repeatElement(-1, count: max(stack + 1, 2 * firstByStack.count) - firstByStack.count))
    }
    var index = firstByStack[stack]
    var length = 0
    while index >= 0 {
      let row = rows[Int(index)]
      if row.operation == operation, row.type == Int32(type) { return Int(index) }
      index = row.next
      length += 1
    }
    if length >= Self.chainLimit {
      let identity = Identity(operation: operation, type: Int32(type), stack: Int32(truncatingIfNeeded: stack))
      if let known = others[identity] { return Int(known) }
      rows.append(Row(operation: operation, type: Int32(type), next: -1))
      others[identity] = Int32(rows.count - 1)
      return rows.count - 1
    }
    rows.append(Row(operation: operation, type: Int32(type), next: firstByStack[stack]))
    firstByStack[stack] = Int32(rows.count - 1)
    return rows.count - 1
  }

  func candidate(of index: Int) -> Int? { rows[index].candidate < 0 ? nil : Int(rows[index].candidate) }
  mutating func setCandidate(_ candidate: Int, of index: Int) { rows[index].candidate = Int32(candidate) }
}

/// The stacks of several traces in one numbering, in which frames are told apart by image and link-time address.
private struct StackForest {
  private struct Image: Hashable {
    var path: String
    var buildID: [UInt8]
  }
  private struct Key: Hashable {
    var parent: UInt32
    var image: UInt32
    var address: UInt64
    var flags: UInt64
  }

  private var images: [Image: UInt32] = [:]
  private var nodes: [Key: UInt32] = [:]

  /// The forest's numbers of a trace's nodes, by node; nil if they are the trace's own. Those of an only trace are,
  /// unless an image came twice: then the same place in it has several nodes.
  mutating func take(_ definitions: TraceDefinitions, isOnly: Bool) -> [UInt32]? {
    let images = Set(definitions.images.map { Image(path: $0.image.path, buildID: $0.image.buildID) })
    return isOnly && images.count == definitions.images.count ? nil : number(definitions)
  }

  private mutating func number(_ definitions: TraceDefinitions) -> [UInt32] {
    let imageNumbers = definitions.images.map { image -> UInt32 in
      let key = Image(path: image.image.path, buildID: image.image.buildID)
      let number = images[key] ?? UInt32(images.count + 1)
      images[key] = number
      return number
    }
    // Parents are numbered before their children.
    var numbers: [UInt32] = [0, 1]
    numbers.reserveCapacity(definitions.stacks.nodeCount)
    for node in 2..<max(2, definitions.stacks.nodeCount) {
      let node = StackID(UInt32(node))
      let parent = numbers[Int(definitions.stacks.parent(of: node).rawValue)]
      let key: Key
      if let frame = definitions.stacks.frame(of: node) {
        let image = frame.image.map { imageNumbers[$0] } ?? 0
        let bias = frame.image.map { definitions.images[$0].image.loadBias } ?? 0
        key = Key(
          parent: parent, image: image, address: frame.key.address.rawValue &- bias,
          flags: frame.key.isAsync ? 2 : frame.key.isExact ? 1 : 0)
      } else {
        key = Key(parent: parent, image: 0, address: 0, flags: 3)
      }
      let number = nodes[key] ?? UInt32(nodes.count + 2)
      nodes[key] = number
      numbers.append(number)
    }
    return numbers
  }
}
