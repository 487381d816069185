// The digest of one run of a program, which can be compared with a run of another build.

import AllocationReports
import LeakDetection
import LeakGates
import PlatformRules
import TraceReading
import TraceSymbolication

/// The figures of a run that a comparison needs: sums by allocation site, and findings. A digest has names and no
/// addresses, so a comparison needs neither the trace nor the program's files. Memory is proportional to the sites with
/// distinct names, which are far fewer than stacks. Safe for any thread.
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

  /// A stack without repeated functions: its innermost function, and the number of its callers' stack; -1 if there is
  /// none.
  package struct StackNode: Codable, Hashable, Sendable {
    package var caller: Int32
    package var frame: Int32
  }

  /// A finding at one place, with the program's functions where the objects of its path were allocated.
  package struct DigestedFinding: Codable, Hashable, Sendable {
    package var finding: Finding
    /// For each step of the path: stable names of the allocating functions, innermost first, without repeats.
    package var allocations: [[String]]
  }

  /// A stack with sampled allocations and their estimates. The estimates' errors are sampling errors.
  package struct Estimate: Codable, Hashable, Sendable {
    /// Number of the innermost frame in `frames`.
    package var innermost: Int32
    /// Number of the stack in `stacks`.
    package var stack: Int32
    /// Bytes allocated since the start of the recording.
    package var allocated: ByteEstimate
    package var live: ByteEstimate
  }

  /// The path that the run was read from.
  package var path: String
  package var program: String
  /// The first process's origin, if the run has several processes. Nil in digests of earlier versions.
  package var origin: RunOrigin?
  /// Set if the run is a single inspection of a process.
  package var inspected: InspectedMoment?
  /// Whether the sites are types and their holders. Nil in digests of earlier versions: see `hasHolders`.
  package var listsHolders: Bool?
  /// The number of traces that were added up.
  package var processes: Int
  package var eventCount: UInt64
  var recordsReferenceCounts: Bool
  /// Whether a trace of the run is damaged. The sums include its readable part.
  package var isDamaged: Bool
  /// The number of threads that made more than a hundredth of the events.
  var busyThreads: Int
  /// Whether a run loop called the program's code, so that the number of calls depends on the clock. Nil in digests of
  /// earlier versions.
  var hasRunLoop: Bool?
  /// True if the run is a light recording. Its blocks come from heap images: blocks that were freed before a heap image
  /// are missing, and the peak is unknown. Nil in digests of earlier versions.
  package var isLight: Bool?
  /// The total of all sites, with the peak of the whole process.
  package var total: SiteTotal
  /// The number of executions of each of the program's scopes, by name.
  package var scopes: [String: UInt64]
  /// The functions in the program's own files, called or not: hashes of their mangled names, sorted. See `SymbolHash`.
  package var functions: [UInt32]
  package var frames: [DiffFrame]
  package var stacks: [StackNode]
  package var sites: [Site]
  /// The estimates of a light recording at its last heap image. Nil for other recordings, for recordings without a heap
  /// image, and in digests of earlier versions.
  package var estimates: [Estimate]?
  /// For estimates: average number of allocated bytes from one sample to the next.
  package var samplePeriod: UInt64?
  /// For estimates: seconds during which samples were taken.
  var sampledSeconds: Double?
  /// Findings of the program and of libraries; nil if there was no heap image.
  package var findings: [DigestedFinding]?
  /// The reason why there are no findings.
  package var findingsUnavailable: String?
  /// Sentences that a reader needs to judge the figures.
  package var remarks: [String]
}

extension RunDigest {
  /// Makes the digest of an analysed trace. Linear in the nodes of the stack tree, in the frames of sampled stacks, and
  /// in the symbols of distinct frames, because every site is named.
  ///
  /// `leaks`: the findings of the trace's heap image, without suppressed findings. `census`: for a trace without
  /// history, the census of the same heap image.
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

    var namer = StackNamer(analysis.definitions, naming: naming, steps: analysis.limits.recursionSteps)
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

    // Gaps in a trace make freed objects look live, and held objects look lost.
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
    // Include the remarks on files without symbols: functions without names are identified by their loaded image alone.
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

  /// Adds another process of the same run. Adds sums and peaks, although each process reaches its peak at another
  /// moment. Joins equal findings.
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

  /// Joins the findings of two processes. A process without a heap image has none.
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

  /// True if the stacks of all sites together have more functions than a digest of this size may have. A comparison
  /// expands each site's stack. A file of a few kilobytes can claim very many sites with one very deep stack. Linear in
  /// sites and stacks.
  var hasTooManyFunctions: Bool {
    var depths: [Int] = []
    depths.reserveCapacity(stacks.count)
    for node in stacks { depths.append(1 + (node.caller >= 0 ? depths[Int(node.caller)] : 0)) }
    let named = sites.map(\.stack) + (estimates ?? []).map(\.stack)
    let functions = named.reduce(0) { $0 + ($1 >= 0 ? depths[Int($1)] : 0) }
    return functions > Self.minFunctions + Self.functionsForEntry * (named.count + stacks.count)
  }

  /// The number of functions that any run may have, and the allowance for each site and stack. Stacks of real programs
  /// have a few dozen functions, and share most of them.
  private static let (minFunctions, functionsForEntry) = (4 << 20, 16)

  /// Returns the functions of a site, innermost first.
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
