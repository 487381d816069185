// Groups objects into siblings. Siblings come from one place, so the life of one says something about the others.

import HeapAnalysis
import PlatformRules
import TraceReading
import TraceSymbolication

extension SurvivorFinder {
  /// Sites that allocate in the same way: with the same type and the same innermost frames.
  struct Family {
    var lifetime = SiteLifetime()
    var survivors: [NodeID] = []
    /// Indices into the sites.
    var sites: [UInt32] = []
    /// The uses of each survivor without loops over all of them. Nil if all uses count.
    var uses: [NodeID: SingleUses.Use]?
  }

  /// The type and the operation of a site. Sites of one family have the same.
  struct SiteKind: Hashable {
    var type: UInt32
    var operation: UInt8

    init(_ site: AllocationSite) { (type, operation) = (site.type, site.operation.rawValue) }
  }

  struct FamilyKey: Hashable {
    var type: UInt32
    var operation: UInt8
    var frames: (UInt64, UInt64, UInt64)

    static func == (a: Self, b: Self) -> Bool { a.type == b.type && a.operation == b.operation && a.frames == b.frames }
    func hash(into hasher: inout Hasher) {
      hasher.combine(type)
      hasher.combine(operation)
      hasher.combine(frames.0)
      hasher.combine(frames.1)
      hasher.combine(frames.2)
    }
  }

  /// Returns the key of a site by its `depth` innermost frames, at most three.
  func key(of site: AllocationSite, depth: Int) -> FamilyKey {
    var stack = site.stack
    var left = depth
    func next() -> UInt64 {
      left -= 1
      if left < 0 { return 0 }
      defer { stack = stacks.parent(of: stack) }
      return stacks.frame(of: stack)?.key.encoded ?? 0
    }
    return FamilyKey(type: site.type, operation: site.operation.rawValue, frames: (next(), next(), next()))
  }

  /// Returns families of sites with equal types and `depth` equal innermost frames. `isTaken`: survivors that belong
  /// elsewhere.
  func families(depth: Int, isTaken: (NodeID) -> Bool) -> [Family] {
    families(isTaken: isTaken) { _, site in key(of: site, depth: depth) }
  }

  /// Returns families of sites that make objects of the program, with the same type and source line. If the compiler
  /// inlines a function or unrolls a loop, one line has several addresses. `isTaken`: survivors that belong elsewhere.
  /// Linear in the sites. A site's line is looked up only if its type has survivors and several addresses.
  func familiesOfLines(isTaken: (NodeID) -> Bool) -> [Family] {
    var types: Set<UInt32> = []
    for node in 0..<NodeID(graph.blockCount) where isProgramObject(node) && !isTaken(node) {
      types.insert(site(of: node).type)
    }
    guard !types.isEmpty else { return [] }
    var addresses: [UInt32: FamilyKey] = [:]
    var several: Set<UInt32> = []
    for site in sites where types.contains(site.type) && site.births > 0 {
      let key = key(of: site, depth: 1)
      if addresses.updateValue(key, forKey: site.type).map({ $0 != key }) ?? false { several.insert(site.type) }
    }
    let named = types.intersection(several)
    guard !named.isEmpty else { return [] }
    var lines: [String: UInt64] = [:]
    return families(isTaken: { isTaken($0) || !named.contains(site(of: $0).type) }) { index, site in
      var key = key(of: site, depth: 1)
      guard named.contains(site.type), let line = line(SiteID(UInt32(index))) else { return key }
      key.frames = (lines[line] ?? UInt64(lines.count), 0, 1)
      lines[line] = key.frames.0
      return key
    }.filter { $0.sites.count > 1 }
  }

  /// Returns families of sites with equal keys. `isTaken`: survivors that belong elsewhere.
  private func families(isTaken: (NodeID) -> Bool, key: (Int, AllocationSite) -> FamilyKey) -> [Family] {
    var survivors: [NodeID] = []
    var kinds: Set<SiteKind> = []
    for index in graph.heap.blocks.indices {
      let node = NodeID(index)
      guard isCandidate(node), !unreachable.contains(node), !isTaken(node) else { continue }
      survivors.append(node)
      kinds.insert(SiteKind(site(of: node)))
    }
    // The sites of other types have no survivors. Few types have most sites, and many types have none.
    guard !kinds.isEmpty else { return [] }
    var numbers: [FamilyKey: Int] = [:]
    var families: [Family] = []
    var familyOfSite = [Int32](repeating: -1, count: sites.count)
    for index in sites.indices {
      let site = sites[index]
      guard kinds.contains(SiteKind(site)), site.births > 0 else { continue }
      let key = key(index, site)
      let number =
        numbers[key]
        ?? {
          numbers[key] = families.count
          families.append(Family())
          return families.count - 1
        }()
      families[number].lifetime += site.lifetime
      families[number].sites.append(UInt32(index))
      familyOfSite[index] = Int32(number)
    }
    // If objects of a family may have ended unseen, it is not known how its siblings end.
    var unknown: Set<Int32> = []
    graph.uncertain.forEach { unknown.insert(familyOfSite[Int(block($0).site.rawValue)]) }
    for node in survivors {
      let family = familyOfSite[Int(block(node).site.rawValue)]
      if family >= 0, !unknown.contains(family) { families[Int(family)].survivors.append(node) }
    }
    return families.filter { $0.survivors.count > 0 }.map { family in
      var family = family
      family.survivors.sort { ordinal($0) < ordinal($1) }
      return family
    }
  }

  /// Returns whether a node can be reported: an object of a class, a closure, a box or a task. These hold all other
  /// blocks.
  func isCandidate(_ node: NodeID) -> Bool {
    if graph.deinitialised.contains(node) || graph.uncertain.contains(node) { return false }
    switch graph.type(of: node).kind {
    case .object, .closure, .box, .task: return true
    default: return false
    }
  }

  func isProgramObject(_ node: NodeID) -> Bool {
    let type = graph.type(of: node)
    return type.kind == .object && !SystemCode.isSystemModule(type.module) && !type.module.isEmpty
  }

  /// Returns whether a finding can name a node. It names objects of the program's classes. If there are none, it names
  /// a closure, a task or a library's resource that the program made.
  func isNameable(_ node: NodeID) -> Bool {
    if isProgramObject(node) { return true }
    if graph.type(of: node).kind == .object, !isResource(node) { return false }
    return origin(block(node).site).isProgram
  }

  /// Returns whether a node is a stream, a lock or another resource: a library's object that the program makes for a
  /// piece of work.
  func isResource(_ node: NodeID) -> Bool {
    let type = graph.type(of: node)
    return type.kind == .object && Self.resources.matches(type.qualifiedName)
  }

  private static let resources = RuleBook.shipped.table(.resource, by: .type)

  func block(_ node: NodeID) -> LiveBlock { graph.heap[BlockID(node)] }
  func ordinal(_ node: NodeID) -> UInt64 { block(node).ordinal }
}

/// The lifetimes of ended objects by type, wherever the objects were made.
struct TypeLifetimes {
  private var longest: [SurvivorFinder.SiteKind: UInt64] = [:]

  /// Linear in the sites.
  init(_ sites: AllocationSites) {
    // Sites of one type often follow one another.
    var last: (kind: SurvivorFinder.SiteKind, longest: UInt64)?
    for site in sites where site.deaths > 0 {
      let (kind, work) = (SurvivorFinder.SiteKind(site), site.longestWork)
      if let known = last, known.kind == kind, work <= known.longest { continue }
      let longest = max(self.longest[kind] ?? 0, work)
      self.longest[kind] = longest
      last = (kind, longest)
    }
  }

  /// Returns the longest of these lifetimes for a site's type, in events of the process; nil if no object has ended.
  func longestWork(of site: AllocationSite) -> UInt64? { longest[SurvivorFinder.SiteKind(site)] }
}
