// One run of a program, summed up so that it can be compared with a run of another build.

import AllocationReports
import LeakDetection
import LeakGates
import PlatformRules
import TraceReading
import TraceSymbolication

/// The figures of a run that a comparison needs: sums by allocation site, and findings, by name. It has no addresses:
/// once it is made, the trace and the program's files are no longer needed. Memory in proportion to the distinct sites
/// by name, which are far fewer than stacks. A value; any thread.
package struct RunDigest: Codable, Hashable, Sendable {
  /// A site, identified by names that are stable across builds: the allocated type, and the program's functions on the
  /// stack.
  package struct Site: Codable, Hashable, Sendable {
    /// The name of the type, or of the allocating function.
    package var type: String
    package var operation: String
    /// Number of the innermost frame in `frames`.
    package var innermost: Int32
    /// Number of the stack in `stacks`.
    package var stack: Int32
    package var total: SiteTotal
  }

  /// A stack, each function once: a function, and the number of the stack of its callers, -1 for none.
  package struct StackNode: Codable, Hashable, Sendable {
    package var caller: Int32
    package var frame: Int32
  }

  /// A finding at one place, with the program's functions where the objects of its path were allocated.
  package struct DigestedFinding: Codable, Hashable, Sendable {
    package var finding: Finding
    /// Stable names by step of the path, innermost first, each once.
    package var allocations: [[String]]
  }

  /// A stack with sampled allocations and their estimates. The estimates' errors are sampling errors.
  package struct Estimate: Codable, Hashable, Sendable {
    /// Number of the innermost frame in `frames`.
    package var innermost: Int32
    /// Number of the stack in `stacks`.
    package var stack: Int32
    /// Since the start of the recording.
    package var allocated: ByteEstimate
    package var live: ByteEstimate
  }

  /// The path that the run was read from.
  package var path: String
  package var program: String
  /// The first process's origin, if there are several. Nil in digests of earlier versions.
  package var origin: RunOrigin?
  /// Set if the run is a single inspection of a process.
  package var inspected: InspectedMoment?
  /// Sites are types and their holders. Nil in digests of earlier versions: see `hasHolders`.
  package var listsHolders: Bool?
  /// Traces that were added up.
  package var processes: Int
  package var eventCount: UInt64
  package var recordsReferenceCounts: Bool
  /// A trace of the run is damaged; its readable part is in the sums.
  package var isDamaged: Bool
  /// Threads that made at least a hundredth of the events.
  package var busyThreads: Int
  /// A run loop called the program's code, so the number of calls depends on the clock. Nil in digests of earlier
  /// versions.
  package var hasRunLoop: Bool?
  /// Blocks come from heap images: blocks that were freed before are missing, and no peak is known. Nil in older
  /// digests.
  package var isLight: Bool?
  /// Over all sites, with the peak of the whole process.
  package var total: SiteTotal
  /// Executions of the program's scopes, by name.
  package var scopes: [String: UInt64]
  /// Functions that the program's own files have, called or not: hashes of their mangled names, sorted. See
  /// `SymbolHash`.
  package var functions: [UInt32]
  package var frames: [DiffFrame]
  package var stacks: [StackNode]
  package var sites: [Site]
  /// The estimates of a light recording at its last heap image. Nil for other recordings, without an image, and in
  /// older digests.
  package var estimates: [Estimate]?
  /// For estimates: average number of allocated bytes from one sample to the next.
  package var samplePeriod: UInt64?
  /// For estimates: seconds during which samples were taken.
  package var sampledSeconds: Double?
  /// Findings of the program and of libraries; nil if there was no heap image.
  package var findings: [DigestedFinding]?
  /// The reason why there are no findings.
  package var findingsUnavailable: String?
  /// Sentences that a reader needs to judge the figures.
  package var remarks: [String]
}

extension RunDigest {
  /// Sums up a trace that has been analysed. Names every site: linear in the nodes of the stack tree, in the frames of
  /// sampled stacks, and in the distinct frames' symbols.
  ///
  /// `leaks`: the findings of its heap image; suppressed findings are left out. `census`: the census of the same image,
  /// for a trace without history.
  package init(_ trace: ReportTrace, leaks: LeakReport, census: HolderCensus? = nil, naming: any FrameNaming) {
    let analysis = trace.analysis
    path = trace.path
    program = trace.program
    origin = RunOrigin(analysis)
    processes = 1
    eventCount = analysis.eventCount
    isDamaged = !analysis.diagnostics.isEmpty
    recordsReferenceCounts = analysis.header.referenceCounting != .off
    busyThreads = analysis.threads.lazy.filter { $0.events > analysis.eventCount / 100 }.count
    scopes = [:]
    for scope in analysis.statements.scopes { scopes[scope.place.name, default: 0] &+= scope.executions }
    remarks = analysis.gapRemarks

    var namer = StackNamer(
      analysis.definitions, naming: naming, steps: ReadingLimits(fileSize: analysis.fileSize.rawValue).recursionSteps)
    var numbers: [SiteKey: Int] = [:]
    var types: [UInt32: String] = [:]
    sites = []
    total = SiteTotal()
    for site in analysis.sites {
      total += site.total
      let (stack, innermost) = namer.stack(site.stack)
      let type =
        site.operation == .object
        ? types[site.type] ?? analysis.typeName(of: site)
        : namer.isOfQueue(site.stack) ? QueueLinks.name : site.operation.name
      if site.operation == .object { types[site.type] = type }
      let key = SiteKey(
        type: type, operation: site.operation.rawValue, innermost: namer.stableNumber(of: innermost), stack: stack)
      if let known = numbers[key] {
        sites[known].total += site.total
      } else {
        numbers[key] = sites.count
        sites.append(
          Site(type: type, operation: site.operation.name, innermost: innermost, stack: stack, total: site.total))
      }
    }
    total.peakBytes = analysis.atPeak.liveBytes
    total.peakBlocks = analysis.atPeak.liveBlocks

    // Gaps in a trace make freed objects seem live, and held ones lost.
    findingsUnavailable =
      leaks.unavailable
      ?? (isDamaged ? "the trace is damaged" : leaks.snapshot?.isWhole == false ? "the heap image is incomplete" : nil)
    if findingsUnavailable == nil {
      remarks += leaks.remarks
      findings = leaks.findings.filter { $0.suppression == nil }.flatMap(\.byPlace).map { finding in
        DigestedFinding(finding: finding, allocations: finding.path.map { namer.functions(of: $0.stack) })
      }
    }
    if analysis.header.isLight, leaks.snapshot != nil {
      estimates = Self.estimates(analysis, &namer)
      samplePeriod = analysis.header.samplePeriod
      sampledSeconds = analysis.definitions.sampledSites.last.flatMap { analysis.clock.seconds(at: $0.time) }
    }
    functions = naming.functionHashes(
      in: analysis.definitions.images.map(\.image).filter { !SystemCode.isSystemImage($0.path) }
    ).sorted()
    frames = namer.frames
    isLight = analysis.header.isLight
    hasRunLoop = frames.contains { $0.isPlatform && Self.runLoops.matches($0.stableName) }
    stacks = namer.nodes
    // Functions without names are identified by their image alone.
    remarks += naming.remarks
    guard analysis.header.lacksHistory, let census else { return }
    replaceSites(with: census)
    guard analysis.header.isInspection else { return }
    let start = analysis.header.startMonotonic
    inspected = InspectedMoment(processStart: start, age: InspectedMoment.nanoseconds(analysis.duration ?? 0))
  }

  private static let runLoops = RuleBook.shipped.table(.runsLoop, by: .symbol)

  private struct SiteKey: Hashable {
    var type: String
    var operation: UInt8
    var innermost: Int32
    var stack: Int32
  }

  /// Adds another process of the same run. Sums are added, and equal findings joined. Each process has its own peak;
  /// peaks are added.
  package mutating func add(_ other: RunDigest) {
    processes += other.processes
    listsHolders = hasHolders && other.hasHolders
    if other.inspected == nil || inspected == nil { inspected = nil }
    origin = [origin, other.origin].compactMap(\.self).min { $0.startTime < $1.startTime }
    eventCount &+= other.eventCount
    isDamaged = isDamaged || other.isDamaged
    recordsReferenceCounts = recordsReferenceCounts && other.recordsReferenceCounts
    busyThreads = max(busyThreads, other.busyThreads)
    hasRunLoop = hasRunLoop == true || other.hasRunLoop == true
    isLight = isLight == true || other.isLight == true
    functions = Set(functions).union(other.functions).sorted()
    total += other.total
    scopes.merge(other.scopes) { $0 &+ $1 }
    let frameBase = Int32(frames.count)
    let stackBase = Int32(stacks.count)
    frames += other.frames
    stacks += other.stacks.map {
      StackNode(caller: $0.caller < 0 ? -1 : $0.caller + stackBase, frame: $0.frame + frameBase)
    }
    // Sites that are equal by name are joined when runs are compared.
    sites += other.sites.map { site in
      var site = site
      site.innermost = site.innermost < 0 ? -1 : site.innermost + frameBase
      site.stack = site.stack < 0 ? -1 : site.stack + stackBase
      return site
    }
    add(estimatesOf: other, frameBase: frameBase, stackBase: stackBase)
    findings = Self.joined(findings, other.findings)
    if findings == nil { findingsUnavailable = findingsUnavailable ?? other.findingsUnavailable }
    for remark in other.remarks where !remarks.contains(remark) { remarks.append(remark) }
  }

  /// Joins findings. A process without a heap image adds nothing to the others' findings.
  private static func joined(_ a: [DigestedFinding]?, _ b: [DigestedFinding]?) -> [DigestedFinding]? {
    guard var result = a else { return b }
    var numbers: [[String]: Int] = [:]
    for (index, entry) in result.enumerated() { numbers[FindingIdentity(entry.finding).parts] = index }
    for entry in b ?? [] {
      let parts = FindingIdentity(entry.finding).parts
      if let known = numbers[parts] {
        result[known].finding.add(entry.finding)
      } else {
        numbers[parts] = result.count
        result.append(entry)
      }
    }
    return result
  }

  /// A few kilobytes can claim that very many sites have one very deep stack, and a comparison writes out each site's
  /// stack. Linear in sites and stacks.
  var hasTooManyFunctions: Bool {
    var depths: [Int] = []
    depths.reserveCapacity(stacks.count)
    for node in stacks { depths.append(1 + (node.caller >= 0 ? depths[Int(node.caller)] : 0)) }
    let named = sites.map(\.stack) + (estimates ?? []).map(\.stack)
    let functions = named.reduce(0) { $0 + ($1 >= 0 ? depths[Int($1)] : 0) }
    return functions > Self.leastFunctions + Self.functionsForEntry * (named.count + stacks.count)
  }

  /// Functions allowed for any run, plus an allowance for each site and stack. Sites of programs are some dozen
  /// functions deep, and share most of them.
  private static let (leastFunctions, functionsForEntry) = (4 << 20, 16)

  /// The functions of a site, innermost first.
  package func frames(of site: Site) -> [DiffFrame] { frames(innermost: site.innermost, stack: site.stack) }

  package func frames(of estimate: Estimate) -> [DiffFrame] {
    frames(innermost: estimate.innermost, stack: estimate.stack)
  }

  private func frames(innermost: Int32, stack: Int32) -> [DiffFrame] {
    var result: [DiffFrame] = innermost >= 0 ? [frames[Int(innermost)]] : []
    var node = stack
    while node >= 0 {
      let frame = frames[Int(stacks[Int(node)].frame)]
      if frame.stableName != result.first?.stableName { result.append(frame) }
      node = stacks[Int(node)].caller
    }
    return result
  }
}
