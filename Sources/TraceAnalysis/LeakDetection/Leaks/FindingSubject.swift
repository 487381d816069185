// Finds the program's own objects behind a closure, a task or a library's object at the end of a path.

import HeapAnalysis
import TraceSymbolication

extension Finding {
  /// The program's object that a finding is about, if the finding's own objects are wrappers: closures, tasks, boxes,
  /// objects of libraries.
  package struct Subject: Codable, Hashable, Sendable {
    /// The type without modules: `RequestContext`.
    package var type: String
    package var qualifiedType: String
    /// The number of such objects in all instances together. Nil for values, which have no identity. Also nil if there
    /// are too many instances to search all of them.
    package var count: UInt64?
    /// The program's line that made the shown object; nil for values.
    package var allocation: SourceFrame?
    /// True if the subject is a structure or an enumeration in a collection, and the finding's object is a part of it.
    package var isValue: Bool
  }
}

/// Searches wrappers for the objects that they keep. For one thread at a time.
///
/// The subject of wrappers is a type. Nearly every wrapper has an object of this type for itself. An object that many
/// wrappers captured, such as a server or `self` of a long-lived object, is not their subject. A few wrappers may share an
/// object, since a task's memory may have a stale word that leads to another task's object.
struct SubjectSearch {
  private let graph: ObjectGraph
  private let naming: FindingNaming

  init(_ graph: ObjectGraph, naming: FindingNaming) { (self.graph, self.naming) = (graph, naming) }

  /// A subject with its objects.
  struct Found {
    var subject: Finding.Subject
    var nodes: Set<NodeID>
  }

  /// Minimum share of the wrappers that must have an object of their own. A few wrappers may have lost theirs.
  private static let ownShare = 0.9
  /// Minimum share of the wrappers whose own object exists because of the wrapper. The program may still have a
  /// reference to the last few objects.
  private static let keptShare = 0.8
  /// Maximum number of wrappers that lead to one object.
  private static let sharingLimit = 3
  /// Maximum number of wrappers that are searched. If there are more, an even selection is searched.
  private static let wrapperLimit = 512
  /// Maximum number of blocks visited for one wrapper.
  private static let blockLimit = 256

  /// The objects of one type.
  private struct Candidate {
    /// By wrapper: its objects, the nearest first.
    var objects: [NodeID: [NodeID]] = [:]
    var depths = 0
    var count = 0
  }

  /// Returns the nearest type of the program that fulfils the condition for subjects; nil if there is none. `sample`:
  /// the wrapper that is shown. `isKept`: returns whether an object exists because of its wrapper, and would be freed
  /// with it. O(searched wrappers), each with at most `blockLimit` blocks.
  func subject(of wrappers: [NodeID], sample: NodeID, isKept: (_ object: NodeID, _ wrapper: NodeID) -> Bool) -> Found? {
    let step = max(1, wrappers.count / Self.wrapperLimit)
    var looked = stride(from: 0, to: wrappers.count, by: step).map { wrappers[$0] }
    if !looked.contains(sample) { looked.append(sample) }
    let found = looked.map { (wrapper: $0, objects: objects(behind: $0)) }
    var sharing: [NodeID: Int] = [:]
    for (object, _) in found.flatMap(\.objects) { sharing[object, default: 0] += 1 }
    var candidates: [UInt32: Candidate] = [:]
    for (wrapper, objects) in found {
      for (object, depth) in objects where sharing[object, default: 0] <= Self.sharingLimit {
        let type = graph.nodeTypes[Int(object)]
        candidates[type, default: Candidate()].objects[wrapper, default: []].append(object)
        candidates[type]!.depths += depth
        candidates[type]!.count += 1
      }
    }
    let least = Self.ownShare * Double(looked.count)
    func order(_ candidate: (key: UInt32, value: Candidate)) -> (Double, String) {
      (
        Double(candidate.value.depths) / Double(max(1, candidate.value.count)),
        graph.types[Int(candidate.key)].qualifiedName
      )
    }
    for (type, candidate) in candidates.filter({ Double($0.value.objects.count) >= least })
      .sorted(by: { order($0) < order($1) })
    {
      guard let own = Self.own(looked, candidate.objects, least: least) else { continue }
      let kept = own.filter { isKept($0.value, $0.key) }
      guard Double(kept.count) >= Self.keptShare * Double(looked.count),
        let shown = kept[sample] ?? looked.lazy.compactMap({ kept[$0] }).first
      else { continue }
      let nodes = Set(candidate.objects.flatMap { wrapper, objects in objects.filter { isKept($0, wrapper) } })
      let isWhole = looked.count >= wrappers.count
      let name = graph.types[Int(type)]
      return Found(
        subject: Finding.Subject(
          type: name.name, qualifiedType: name.qualifiedName, count: isWhole ? UInt64(nodes.count) : nil,
          allocation: naming.ownAllocation(of: shown) ?? naming.allocation(of: shown), isValue: false),
        nodes: nodes)
    }
    return nil
  }

  /// Gives as many wrappers as possible an object of their own, by augmenting paths. Returns the objects by wrapper; nil
  /// if fewer than `least` wrappers can have one. Source: Kuhn, The Hungarian method for the assignment problem, 1955.
  /// O(wrappers × references) at worst, and linear if each wrapper has one object.
  private static func own(_ wrappers: [NodeID], _ objects: [NodeID: [NodeID]], least: Double) -> [NodeID: NodeID]? {
    var owners: [NodeID: NodeID] = [:]
    func give(_ wrapper: NodeID, _ tried: inout Set<NodeID>) -> Bool {
      for object in objects[wrapper] ?? [] where tried.insert(object).inserted {
        guard let other = owners[object] else {
          owners[object] = wrapper
          return true
        }
        if give(other, &tried) {
          owners[object] = wrapper
          return true
        }
      }
      return false
    }
    var failed = 0
    for wrapper in wrappers {
      var tried: Set<NodeID> = []
      if !give(wrapper, &tried) { failed += 1 }
      if Double(wrappers.count - failed) < least { return nil }
    }
    return Dictionary(uniqueKeysWithValues: owners.map { ($0.value, $0.key) })
  }

  /// Returns the program's objects that a wrapper leads to, each with its distance. Paths to them contain no other
  /// object of the program.
  private func objects(behind wrapper: NodeID) -> [(NodeID, Int)] {
    var result: [(NodeID, Int)] = []
    var depths: [NodeID: Int] = [wrapper: 0]
    var pending = [wrapper]
    var index = 0
    while index < pending.count, pending.count < Self.blockLimit {
      let node = pending[index]
      index += 1
      let depth = depths[node, default: 0] + 1
      for edge in graph.graph.edges(from: node)
      where ObjectGraph.owning.contains(EdgeKinds(kind: graph.graph.kind(of: edge))) {
        let target = graph.graph.target(of: edge)
        guard !graph.isRoot(target), depths[target] == nil else { continue }
        depths[target] = depth
        if naming.isOwn(target) { result.append((target, depth)) } else { pending.append(target) }
      }
    }
    return result
  }

  /// Returns the element type of the nearest collection on a path to a wrapper. This is `Visit` if the wrapper is a
  /// field of such values. Nil if there is no such collection, or if its element type is the wrapper's type.
  func element(of path: ArraySlice<Finding.Step>) -> Finding.Subject? {
    guard let wrapper = path.last else { return nil }
    for step in path.dropLast().reversed() {
      switch step.kind {
      case .array, .dictionary, .set:
        guard let name = TypeNames.arguments(step.qualifiedType).last, name != wrapper.qualifiedType,
          Self.isNominal(name)
        else { return nil }
        let module = String(name.prefix { $0 != "." })
        guard naming.isOwn(module: module) || !SystemCode.isSystemModule(module) && wrapper.library != nil else {
          return nil
        }
        return Finding.Subject(
          type: TypeNames.unqualified(name), qualifiedType: name, count: nil, allocation: nil, isValue: true)
      case .object where step.library == nil: return nil
      default: continue
      }
    }
    return nil
  }

  /// Returns whether a name is a type in a module other than `Swift`. Tuples, functions and optionals are not.
  private static func isNominal(_ name: String) -> Bool {
    let head = name.prefix { $0 != "<" }
    return head.contains(".") && head.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
      && !head.hasPrefix("Swift.")
  }
}
