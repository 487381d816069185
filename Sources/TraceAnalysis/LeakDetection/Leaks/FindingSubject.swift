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
/// The subject of a wrapper is an object that no other wrapper has captured. An object that all wrappers captured, such
/// as a server or `self` of a long-lived object, is not their subject. So a type counts if nearly every wrapper is the
/// only one to capture an object of this type.
struct SubjectSearch {
  private let graph: ObjectGraph
  private let naming: FindingNaming

  init(_ graph: ObjectGraph, naming: FindingNaming) { (self.graph, self.naming) = (graph, naming) }

  /// A subject with its objects.
  struct Found {
    var subject: Finding.Subject
    var nodes: Set<NodeID>
  }

  /// Minimum share of the wrappers that must be the only ones to capture an object of the type. A few wrappers may have
  /// lost their object, or have one more.
  private static let ownShare = 0.9
  /// Maximum number of wrappers that are searched. If there are more, an even selection is searched.
  private static let wrapperLimit = 512
  /// Maximum number of blocks visited for one wrapper.
  private static let blockLimit = 256

  private struct Candidate {
    var wrappers = 0
    var depths = 0
    var nodes: [NodeID] = []
  }

  /// Returns the nearest type of the program that fulfils the condition for subjects; nil if there is none. `sample`:
  /// the wrapper that is shown. `isKept`: returns whether an object exists because of its wrapper, and would be freed
  /// with it. O(searched wrappers), each with at most `blockLimit` blocks.
  func subject(of wrappers: [NodeID], sample: NodeID, isKept: (_ object: NodeID, _ wrapper: NodeID) -> Bool) -> Found? {
    let step = max(1, wrappers.count / Self.wrapperLimit)
    var looked = stride(from: 0, to: wrappers.count, by: step).map { wrappers[$0] }
    if !looked.contains(sample) { looked.append(sample) }
    var owners: [NodeID: NodeID] = [:]
    var shared: Set<NodeID> = []
    var found: [(wrapper: NodeID, object: NodeID, depth: Int)] = []
    for wrapper in looked {
      for (object, depth) in objects(behind: wrapper) {
        if let other = owners.updateValue(wrapper, forKey: object), other != wrapper { shared.insert(object) }
        found.append((wrapper, object, depth))
      }
    }
    var candidates: [UInt32: [NodeID: Candidate]] = [:]
    for (wrapper, object, depth) in found where !shared.contains(object) && isKept(object, wrapper) {
      let type = graph.nodeTypes[Int(object)]
      candidates[type, default: [:]][wrapper, default: Candidate()].nodes.append(object)
      candidates[type]?[wrapper]?.depths += depth
    }
    let frequent = candidates.filter {
      Double($0.value.count) >= Self.ownShare * Double(looked.count) && $0.value[sample] != nil
    }
    func order(_ type: UInt32) -> (Double, String) {
      let candidates = frequent[type].map { Array($0.values) } ?? []
      let objects = candidates.reduce(0) { $0 + $1.nodes.count }
      return (
        Double(candidates.reduce(0) { $0 + $1.depths }) / Double(max(1, objects)), graph.types[Int(type)].qualifiedName
      )
    }
    guard let type = frequent.keys.min(by: { order($0) < order($1) }), let holders = frequent[type],
      let shown = holders[sample]?.nodes.first
    else { return nil }
    let nodes = Set(holders.values.flatMap(\.nodes))
    let isWhole = looked.count >= wrappers.count
    let name = graph.types[Int(type)]
    return Found(
      subject: Finding.Subject(
        type: name.name, qualifiedType: name.qualifiedName, count: isWhole ? UInt64(nodes.count) : nil,
        allocation: naming.ownAllocation(of: shown) ?? naming.allocation(of: shown), isValue: false),
      nodes: nodes)
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
