// What `leaktrace analyze` shows, as a value: everything chosen, sorted and named, nothing formatted.

/// Which sites a report shows, and in which order.
public struct ReportSelection: Hashable, Sendable {
  public enum Order: String, CaseIterable, Hashable, Sendable {
    case live, peak, total, temporary, objects, retains

    func value(of total: SiteTotal) -> UInt64 {
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

  public var order: Order = .live
  /// Sites to show; nil for all.
  public var limit: Int? = 10
  /// A site is shown if any of its frames is of an image or Swift module that one of these matches. None: all are shown.
  public var modules: [NamePattern] = []
  /// The same for functions.
  public var functions: [NamePattern] = []
  /// A site is shown if its type's name, or the allocating function's for other blocks, matches one of these.
  public var types: [NamePattern] = []

  public init() {}

  var filters: Bool { !modules.isEmpty || !functions.isEmpty || !types.isEmpty }
}

/// A frame of a shown stack.
public struct ReportFrame: Hashable, Sendable {
  public var address: RuntimeAddress
  public var source: SourceFrame
}

/// A site that a report shows.
public struct ReportSite: Hashable, Sendable {
  public var operation: Operation
  /// The type's name, or that of the function that allocated.
  public var type: String
  public var total: SiteTotal
  /// Innermost first, inlined ones apart.
  public var frames: [ReportFrame]
  public var end: StackPath.End

  /// Index of the innermost frame that is the program's own; nil if there is none.
  public var userFrame: Int? { frames.firstIndex { $0.source.kind == .user } }
}

/// One trace, as a report's head tells of it.
public struct ReportTrace: Sendable {
  public var path: String
  public var analysis: AllocationAnalysis

  public init(path: String, analysis: AllocationAnalysis) {
    self.path = path
    self.analysis = analysis
  }

  /// The program's path; the trace's if it does not say.
  public var program: String { analysis.definitions.process.executable.isEmpty ? path : analysis.definitions.process.executable }
}

/// The allocations of one trace, or of several together.
public struct AllocationReport: Sendable {
  public var traces: [ReportTrace]
  public var selection: ReportSelection
  /// Over all sites.
  public var total: SiteTotal
  /// Over those that the filters let through.
  public var matchingTotal: SiteTotal
  public var matchingCount: Int
  public var siteCount: Int
  public var sites: [ReportSite]
  /// Sums of the sites that the filters let through, those that are not shown included; most by the order's key first.
  public var types: [AllocationAnalysis.NamedTotal]
  public var operations: [AllocationAnalysis.NamedTotal]
  /// What kept frames from being named.
  public var namingRemarks: [String]

  /// Chooses, sorts and names. Names are looked up for the shown sites only, unless a filter asks for those of all.
  /// Equal sites of several traces (by image and link-time addresses) are one; their peaks are each process's own, added up.
  public init(_ traces: [ReportTrace], selection: ReportSelection = ReportSelection(), naming: any FrameNaming) {
    self.traces = traces
    self.selection = selection
    var candidates: [Candidate] = []
    var identities = SiteIdentities()
    var forest = StackForest()
    var total = SiteTotal()
    var names = SiteTypeNames(selection)
    var matched = SiteTotal()
    for (number, trace) in traces.enumerated() {
      let filter = StackFilter(trace.analysis.definitions, naming: naming, selection: selection)
      let nodes = forest.take(trace.analysis.definitions, isOnly: traces.count == 1)
      names.begin(trace.analysis)
      for site in trace.analysis.sites {
        total += site.total
        let type = names.number(of: site)
        let stack = nodes.map { $0[Int(site.stack.rawValue)] } ?? site.stack.rawValue
        let identity = identities.index(operation: site.operation, type: type, stack: Int(stack))
        guard names.isMatching(type), filter.matches(site.stack) else { continue }
        matched += site.total
        if let index = identities.candidate(of: identity) {
          candidates[index].total += site.total
        } else {
          identities.setCandidate(candidates.count, of: identity)
          candidates.append(Candidate(trace: number, stack: site.stack, operation: site.operation, type: type, total: site.total))
        }
      }
    }
    self.total = total
    matchingTotal = matched
    matchingCount = candidates.count
    siteCount = traces.count > 1 ? identities.count : traces.first.map { $0.analysis.sites.count } ?? 0

    let order = selection.order
    candidates.sort { Self.precedes($0, $1, order, names) }
    // A site that has nothing of what is asked for is not worth its lines.
    let shown = candidates.prefix(selection.limit ?? candidates.count).filter { order.value(of: $0.total) > 0 }
    sites = shown.map { candidate in
      let definitions = traces[candidate.trace].analysis.definitions
      let path = definitions.stacks.path(of: candidate.stack)
      let frames = path.frames.flatMap { frame in
        naming.frames(for: frame.key, in: frame.image.map { definitions.images[$0].image })
          .map { ReportFrame(address: frame.key.address, source: $0) }
      }
      return ReportSite(operation: candidate.operation, type: names[candidate.type], total: candidate.total, frames: frames, end: path.end)
    }
    types = Self.sums(candidates, order, count: names.count, number: { $0.type }, name: { names[$0] })
    operations = Self.sums(
      candidates, order, count: Int(UInt8.max) + 1, number: { Int($0.operation.rawValue) }, name: { Operation(rawValue: UInt8($0)).name })
    namingRemarks = naming.remarks
  }

  private struct Candidate {
    var trace: Int
    var stack: StackID
    var operation: Operation
    /// In `SiteTypeNames`.
    var type: Int
    var total: SiteTotal
  }

  private static func precedes(_ a: Candidate, _ b: Candidate, _ order: ReportSelection.Order, _ names: SiteTypeNames) -> Bool {
    let x = order.value(of: a.total)
    let y = order.value(of: b.total)
    if x != y { return x > y }
    if a.total.allocatedBytes != b.total.allocatedBytes { return a.total.allocatedBytes > b.total.allocatedBytes }
    if (a.trace, a.stack) != (b.trace, b.stack) { return (a.trace, a.stack) < (b.trace, b.stack) }
    return (names[a.type], a.operation.rawValue) < (names[b.type], b.operation.rawValue)
  }

  /// Sums by number; those of one name are one.
  private static func sums(
    _ candidates: [Candidate], _ order: ReportSelection.Order, count: Int, number: (Candidate) -> Int, name: (Int) -> String
  ) -> [AllocationAnalysis.NamedTotal] {
    var sums: [SiteTotal?] = Array(repeating: nil, count: count)
    for candidate in candidates { sums[number(candidate), default: SiteTotal()] += candidate.total }
    var named: [String: SiteTotal] = [:]
    for (number, sum) in sums.enumerated() { if let sum { named[name(number), default: SiteTotal()] += sum } }
    return named.map { AllocationAnalysis.NamedTotal(name: $0.key, total: $0.value) }.sorted {
      (order.value(of: $1.total), $1.total.allocatedBytes, $0.name) < (order.value(of: $0.total), $0.total.allocatedBytes, $1.name)
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

/// Numbers sites by operation, type and stack: those of one stack, which are few, hang together.
private struct SiteIdentities {
  private struct Row {
    var operation: Operation
    var type: Int32
    /// Row of another site of the same stack, and index of the site's candidate; −1 for none.
    var next: Int32
    var candidate: Int32 = -1
  }
  private var rows: [Row] = []
  private var firstByStack: [Int32] = []

  var count: Int { rows.count }

  mutating func index(operation: Operation, type: Int, stack: Int) -> Int {
    if stack >= firstByStack.count { firstByStack.append(contentsOf: repeatElement(-1, count: max(stack + 1, 2 * firstByStack.count) - firstByStack.count)) }
    var index = firstByStack[stack]
    while index >= 0 {
      let row = rows[Int(index)]
      if row.operation == operation, row.type == Int32(type) { return Int(index) }
      index = row.next
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

  /// The forest's numbers of a trace's nodes, by node; nil if they are the trace's own. Those of an only trace are, unless an image came twice: then the same
  /// place in it has several nodes.
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
