// The contents of `leaktrace analyze`'s report, as a value. They are chosen, sorted and named, but not formatted.

import TextWriting
import TraceReading
import TraceSymbolication

/// A site in a report.
package struct ReportSite: Hashable, Sendable {
  package var operation: Operation
  /// The name of the type, or of the allocating function.
  package var type: String
  package var total: SiteTotal
  /// The frames of the stack, innermost first. Inlined frames are separate.
  package var frames: [ReportFrame]
  package var end: StackPath.End
  /// The number of joined sites. `frames` shows the largest site.
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

  /// Index of the program's innermost frame; nil if no frame is the program's.
  package var userFrame: Int? { frames.firstIndex { $0.source.kind == .user } }
}

/// One trace, with the data for a report's head.
package struct ReportTrace: Sendable {
  package var path: String
  package var analysis: AllocationAnalysis
  /// The threads' names, by the trace's thread numbers; empty until a report names the threads.
  package var threadNames: [UInt32: String] = [:]

  package init(path: String, analysis: AllocationAnalysis) {
    self.path = path
    self.analysis = analysis
  }

  /// The program's path, or the trace's path if the trace does not name the program.
  package var program: String {
    analysis.definitions.process.executable.isEmpty ? path : analysis.definitions.process.executable
  }

  /// Names the threads. Linear in the depth of each thread's stack.
  fileprivate mutating func nameThreads(_ naming: any FrameNaming) {
    let definitions = analysis.definitions
    let names = ThreadNames(
      definitions, mainThread: UInt64(analysis.header.processID),
      stack: analysis.activationsAtSnapshot.outermostStack(ofThread:),
      frames: { naming.frames(for: $0, in: definitions.image(at: $0.lookupAddress)) })
    for thread in definitions.threads { threadNames[thread.thread] = names.name(ofThread: thread.osThread) }
  }
}

/// The allocations of one or more traces.
package struct AllocationReport: Sendable {
  package var traces: [ReportTrace]
  package var selection: ReportSelection
  /// The sum over all sites.
  package var total: SiteTotal
  /// The sum over the sites that pass the filters.
  package var matchingTotal: SiteTotal
  package var matchingCount: Int
  package var siteCount: Int
  /// The number of rows. Without grouping: one for each site that passes the filters. With grouping: one for each group
  /// of these sites, without sites whose figure for the report's order is zero.
  package var rowCount: Int
  /// The number of call stacks in these rows.
  package var joinedStackCount: Int
  package var sites: [ReportSite]
  /// Sums over all sites that pass the filters, by type and by operation, including sites that are not shown. Sorted by
  /// the order's figure, largest first.
  package var types: [AllocationAnalysis.NamedTotal]
  package var operations: [AllocationAnalysis.NamedTotal]
  /// The estimated sites to show, for light recordings.
  package var estimates: [EstimatedSite]
  /// The number of all estimated sites, including those not shown.
  package var estimateCount: Int
  /// The threads with their stacks, for inspections.
  package var threads: [ReportThread]
  /// The reasons why frames could not be named.
  package var namingRemarks: [String]
  /// Names that are similar to patterns without any match; empty if a site passes the filters.
  package var nearestNames: [String]

  /// True if only the blocks of one moment are known. These blocks have types, but most have no allocation sites.
  package var lacksHistory: Bool { !traces.isEmpty && traces.allSatisfy(\.analysis.header.lacksHistory) }

  /// Chooses, sorts and names sites. Names only the shown sites, unless a filter needs the names of all sites. Joins
  /// equal sites of several traces. Two stacks are equal if their frames have the same loaded images and link-time
  /// addresses. Each process has its own peak, and the report's peak is the sum of these peaks.
  package init(_ traces: [ReportTrace], selection: ReportSelection = ReportSelection(), naming: any FrameNaming) {
    self.traces = traces
    self.selection = selection
    let candidates = Candidates(traces)
    var identities = SiteIdentities()
    var forest = StackForest()
    var total = SiteTotal()
    var sums = CandidateSums()
    let names = SiteTypeNames(selection)
    let order = selection.order
    for (number, trace) in traces.enumerated() {
      let filter = StackFilter(trace.analysis.definitions, naming: naming, selection: selection)
      let nodes = forest.take(trace.analysis.definitions, isOnly: traces.count == 1)
      names.begin(trace.analysis)
      let sites = trace.analysis.sites
      for index in sites.indices { _ = names.number(ofSite: index, sites.key(at: index)) }
      // The sites of one trace are usually distinct, and then need no common numbers.
      let areDistinct = traces.count == 1 && nodes == nil && !names.joinsTypes && !sites.mayRepeat
      for index in sites.indices {
        let site = sites.key(at: index)
        let siteTotal = sites.total(at: index)
        total += siteTotal
        let type = names.number(ofSite: index, site)
        if areDistinct {
          guard names.isMatching(type), filter.matches(site.stack) else { continue }
          sums.add(siteTotal, type: type, operation: site.operation)
          // Most sites of a long run have no row. A program may have a million sites.
          if order.value(of: siteTotal) > 0 {
            candidates.append(SiteID(UInt32(index)), ofTrace: number, type: type)
          }
          continue
        }
        let stack = nodes.map { $0[Int(site.stack.rawValue)] } ?? site.stack.rawValue
        let identity = identities.index(operation: site.operation, type: type, stack: Int(stack))
        guard names.isMatching(type), filter.matches(site.stack) else { continue }
        if let candidate = identities.candidate(of: identity) {
          candidates.merge(siteTotal, into: candidate)
        } else {
          identities.setCandidate(candidates.count, of: identity)
          candidates.append(SiteID(UInt32(index)), ofTrace: number, type: type)
        }
      }
    }
    // The sums of joined sites are known only now.
    if sums.count == 0 {
      for index in 0..<candidates.count {
        sums.add(candidates.total(index), type: candidates.type(index), operation: candidates.site(index).operation)
      }
    }
    self.total = total
    matchingCount = sums.count
    siteCount = traces.count > 1 ? identities.count : traces.first.map { $0.analysis.sites.count } ?? 0

    var ranking: [Rank] = []
    var groups = selection.grouping == .function ? SiteGroups(traces, naming: naming) : nil
    for index in 0..<candidates.count {
      let site = candidates.site(index)
      let total = candidates.total(index)
      // Leave out sites whose figure for the report's order is zero.
      let value = order.value(of: total)
      guard value > 0 else { continue }
      groups?.add(
        total, value: value, candidate: index, type: candidates.type(index), site,
        ofTrace: candidates.trace(index))
      if groups == nil { ranking.append(Rank(value: value, allocatedBytes: total.allocatedBytes, candidate: index)) }
    }
    matchingTotal = sums.whole
    types = sums.types(order, names)
    operations = sums.operations(order)

    rowCount = groups?.all.count ?? sums.count
    joinedStackCount = groups?.stackCount ?? sums.count
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
    for index in traces.indices { self.traces[index].nameThreads(naming) }
    let estimated = traces.map { EstimatedSite.sites($0, selection: selection, naming: naming) }
    estimates = estimated.flatMap(\.shown)
    estimateCount = estimated.reduce(0) { $0 + $1.count }
    namingRemarks = naming.remarks
    nearestNames = sums.count == 0 ? Self.nearestNames(traces, selection, naming) : []
  }

  /// Returns names that are similar to the patterns without any match.
  private static func nearestNames(
    _ traces: [ReportTrace], _ selection: ReportSelection, _ naming: any FrameNaming
  ) -> [String] {
    func nearest(to patterns: [NamePattern], _ names: (AllocationAnalysis) -> [String]) -> [String] {
      guard patterns.contains(where: { $0.word != nil }) else { return [] }
      let names = traces.flatMap { names($0.analysis) }
      let unmatched = patterns.filter { pattern in !names.contains { pattern.matches($0) } }
      return unmatched.compactMap(\.word).flatMap { NearestWords.nearest(to: $0, among: names) }
    }
    return nearest(to: selection.types, SiteNames.types)
      + nearest(to: selection.functions) { SiteNames.functions($0, naming: naming) }
      + nearest(to: selection.modules) { SiteNames.modules($0, naming: naming) }
  }

  /// The sort key of a site in the report.
  private struct Rank {
    /// True if the site comes after all others, regardless of its value.
    var isLast = false
    /// The site's figure for the report's order.
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
