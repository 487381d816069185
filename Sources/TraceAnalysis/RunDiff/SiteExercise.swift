// Whether the new runs reached the allocation sites of old findings.

import HeapAnalysis
import LeakDetection
import TraceReading
import TraceSymbolication

/// Finds the allocation sites of old findings in the new runs.
///
/// A run reached a site if it allocated such objects with the same functions on the stack. A function that the new
/// build no longer has may be missing from the stack. If the new build still has a missing function, other code may
/// have made the objects, so the run proves nothing.
struct SiteExercise {
  /// The site of a finding.
  private struct Site {
    var kind: NodeKind
    /// The stable name of the type.
    var type: Int32
    /// The type's name in texts.
    var typeName: String
    /// The functions of the stack, innermost first, each once.
    var functions: [Int32]
    /// The function that made the object. Initialisers of the object's own type do not count.
    var place: Int32
    /// The function's name in texts.
    var placeName: String
    /// Whether only the innermost function is known, as for samples.
    var isPlaceOnly: Bool
  }

  private let oldSites: [ComparedSites.Entry]
  private let newSites: [ComparedSites.Entry]
  private let estimates: ComparedEstimates
  private let runs: [RunDigest]
  private let vocabulary: Vocabulary
  /// For each old site: the matching new one.
  private let partners: [Int?]
  private let oldByFunctions: [[Int32]: [Int]]
  /// New sites by each function on their stacks.
  private let newByFunction: [Int32: [Int]]

  /// Also takes the pairs of sites that match by similarity. Must be made after names are matched. Linear in the functions of
  /// all sites.
  init(
    old oldSites: [ComparedSites.Entry], new newSites: [ComparedSites.Entry], _ matching: NameMatching,
    alike: [(old: Int, new: Int)], runs: [RunDigest], vocabulary: Vocabulary
  ) {
    (self.oldSites, self.newSites, self.runs, self.vocabulary) = (oldSites, newSites, runs, vocabulary)
    estimates = ComparedEstimates(runs, vocabulary, side: .new)
    var partners = matching.partners.map { $0?.new }
    for pair in alike { partners[pair.old] = pair.new }
    self.partners = partners
    oldByFunctions = Dictionary(grouping: oldSites.indices) { Self.distinct(oldSites[$0].functions) }
    var byFunction: [Int32: [Int]] = [:]
    for (index, entry) in newSites.enumerated() {
      for function in Set(entry.functions) { byFunction[function, default: []].append(index) }
    }
    newByFunction = byFunction
  }

  /// Returns the number of blocks that a finding's site allocated in the old run; 0 if it is not known.
  func oldBlocks(of entry: ComparedFindings.Entry) -> UInt64 {
    guard let site = site(of: entry), !site.isPlaceOnly else { return 0 }
    return candidates(site).reduce(0) { $0 &+ oldSites[$1].totals.reduce(0) { $0 &+ $1.allocatedBlocks } }
  }

  /// Returns the use of a finding's site in a new run. O(sites of the finding's function · their functions).
  func use(of entry: ComparedFindings.Entry, run: Int) -> SiteUse {
    guard runs[run].isLight == true || !runs[run].hasHolders else { return .notReached(.inspection) }
    guard let site = site(of: entry) else { return .notReached(.siteUnknown) }
    return runs[run].isLight == true ? sampledUse(site, run) : recordedUse(site, run)
  }

  // MARK: The site of a finding

  private func site(of entry: ComparedFindings.Entry) -> Site? {
    let finding = entry.finding
    let index = finding.evidence.retention == nil ? 0 : finding.path.count - 1
    guard finding.path.indices.contains(index), entry.allocations.indices.contains(index) else { return nil }
    let step = finding.path[index]
    var functions = entry.allocations[index].map { vocabulary.number(of: $0, on: .old) }
    var frame = step.place ?? step.allocation
    var isPlaceOnly = false
    if functions.isEmpty, let sample = finding.origins.samples.first?.place {
      frame = sample
      functions = [vocabulary.number(of: StableName.of(sample), on: .old)]
      isPlaceOnly = true
    }
    guard let innermost = functions.first else { return nil }
    let named = vocabulary.number(of: StableName.of(step.allocation ?? frame), on: .old)
    let place = functions.contains(named) ? named : innermost
    return Site(
      kind: step.kind, type: vocabulary.number(of: StableName.of(step.qualifiedType), on: .old), typeName: step.type,
      functions: Self.distinct(functions[...]), place: place, placeName: frame?.function ?? vocabulary.name(place),
      isPlaceOnly: isPlaceOnly)
  }

  /// Returns the functions without repeats of the innermost one.
  private static func distinct(_ functions: ArraySlice<Int32>) -> [Int32] {
    guard let first = functions.first else { return [] }
    return [first] + functions.dropFirst().filter { $0 != first }
  }

  /// Returns the old sites with exactly the finding's stack and type.
  private func candidates(_ site: Site) -> [Int] {
    (oldByFunctions[site.functions] ?? []).filter { isOfType(site, oldSites[$0], isOld: true) }
  }

  /// Returns whether the objects of a finding may have been allocated at this site. A site of the same stack with
  /// another type shows that the function ran, but not that it made such objects.
  private func isOfType(_ site: Site, _ entry: ComparedSites.Entry, isOld: Bool) -> Bool {
    let name = vocabulary.name(entry.type)
    return switch site.kind {
    case .object, .error: entry.type == (isOld ? site.type : vocabulary.current(site.type))
    case .closure, .box: name.hasPrefix("closure context or box")
    case .array: name.contains("ArrayStorage")
    case .dictionary: name.contains("DictionaryStorage")
    case .set: name.contains("SetStorage")
    case .malloc: name == site.typeName || name == QueueLinks.name
    // The runtime allocates these without a type.
    case .task, .sideTable: vocabulary.name(entry.operation) != Operation.object.name
    }
  }

  // MARK: Recordings

  private func recordedUse(_ site: Site, _ run: Int) -> SiteUse {
    let place = vocabulary.current(site.place)
    var others = Set(newByFunction[place] ?? [])
    let sameFunction = others.contains { newSites[$0].totals[run].allocatedBlocks > 0 }
    others.formUnion(candidates(site).compactMap { partners[$0] })
    let made = others.sorted().filter {
      newSites[$0].totals[run].allocatedBlocks > 0 && isOfType(site, newSites[$0], isOld: false)
    }
    var blocks: UInt64 = 0
    var missing: String?
    for index in made {
      if let function = missingFunction(of: site, in: newSites[index], runs[run]) {
        missing = missing ?? vocabulary.name(function)
      } else {
        blocks &+= newSites[index].totals[run].allocatedBlocks
      }
    }
    if blocks > 0 { return .reached(blocks: blocks) }
    if let missing { return .notReached(.otherCallers(function: site.placeName, missing: missing)) }
    if sameFunction { return .notReached(.notAllocated(type: site.typeName, function: site.placeName)) }
    if isRemoved(site.place, runs[run]) { return .notReached(.functionRemoved(site.placeName)) }
    return .notReached(.functionUnseen(site.placeName))
  }

  /// Returns a function of the old stack that the new stack lacks although the new build has it. Returns nil if there is
  /// none.
  private func missingFunction(of site: Site, in entry: ComparedSites.Entry, _ run: RunDigest) -> Int32? {
    site.functions.first { !entry.functions.contains(vocabulary.current($0)) && !isRemoved($0, run) }
  }

  /// Returns whether the new build has no such function. A build without symbols does not show that.
  private func isRemoved(_ function: Int32, _ run: RunDigest) -> Bool {
    !run.functions.isEmpty && !vocabulary.isOnNewSide(function)
  }

  // MARK: Light recordings

  private func sampledUse(_ site: Site, _ run: Int) -> SiteUse {
    let place = vocabulary.current(site.place)
    let wanted = site.functions.map(vocabulary.current)
    let isSampled = estimates.entries.contains { entry in
      guard entry.allocated[run].bytes > 0 else { return false }
      return site.isPlaceOnly ? entry.functions.first == place : wanted.allSatisfy(entry.functions.contains)
    }
    return isSampled ? .sampled : .notReached(.notSampled)
  }
}
