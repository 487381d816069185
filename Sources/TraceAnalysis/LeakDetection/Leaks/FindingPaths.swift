// Builds the path of a finding, and names its objects and references.

import HeapAnalysis
import TraceReading
import TraceSymbolication

/// Names the steps of paths. For one thread at a time.
struct FindingPaths {
  private let graph: ObjectGraph
  private let naming: FindingNaming

  init(_ graph: ObjectGraph, naming: FindingNaming) {
    self.graph = graph
    self.naming = naming
  }

  /// Returns the steps of a path with their names. O(steps) lookups of names.
  ///
  /// If a function value is passed as another type, the compiler makes a thunk with a separate context. The path omits
  /// the thunk: a reference to the thunk becomes a reference to the closure that the thunk calls.
  func path(_ steps: [LeakGroup.Step]) -> [Finding.Step] {
    var kept: [LeakGroup.Step] = []
    var thunks = ThunkTargets()
    for (index, step) in steps.enumerated() {
      let before = index > 0 ? steps[index - 1] : steps[steps.count - 1]
      if steps.count > 1, index > 0, graph.type(of: step.node).kind == .closure, let incoming = before.edge,
        let beyond = step.edge,
        naming.isThunk(naming.closure(of: incoming, from: before.node))
      {
        thunks[step.node] = beyond
        continue
      }
      kept.append(step)
    }
    guard kept.count > Self.shownSteps else { return name(kept, thunks) }
    // A long path shows only its ends.
    let head = Self.shownSteps - Self.shownTail
    let tail = kept.count - Self.shownTail - 1
    var named = name(Array(kept[..<head] + kept[tail...]), thunks)
    named[head].omittedBefore = tail - head
    return named
  }

  /// Returns the steps of a path from a root. Blocks without a stack belong to a library if a variable of the library
  /// leads to them.
  /// - Parameter isListed: whether a block has no stack.
  func path(_ steps: [LeakGroup.Step], from root: NodeID, isListed: (LiveBlock) -> Bool) -> [Finding.Step] {
    var named = path(steps)
    guard let first = steps.first, isListed(graph.heap[BlockID(first.node)]), let library = naming.library(ofRoot: root)
    else { return named }
    for index in named.indices.prefix(while: { named[$0].kind == .malloc }) {
      named[index].library = named[index].library ?? library
    }
    return named
  }

  /// Maximum number of steps of a path that are shown.
  private static let shownSteps = 40
  /// The number of shown steps after the gap, without the first of them.
  private static let shownTail = 8

  /// The edge to the closure that a thunk on the path calls, by the thunk's context.
  private typealias ThunkTargets = [NodeID: EdgeIndex]

  private func name(_ steps: [LeakGroup.Step], _ thunks: ThunkTargets) -> [Finding.Step] {
    var result: [Finding.Step] = []
    var closures: [SourceFrame?] = Array(repeating: nil, count: steps.count)
    for (index, step) in steps.enumerated() {
      guard let edge = step.edge else { continue }
      closures[index] = closureBehindThunks(edge, from: step.node, thunks)
    }
    for (index, step) in steps.enumerated() {
      let type = graph.type(of: step.node)
      let block = graph.heap[BlockID(step.node)]
      let incoming = index > 0 ? closures[index - 1] : steps.last?.edge != nil ? closures[steps.count - 1] : nil
      var kind = type.kind
      var function: SourceFrame?
      if kind == .closure {
        function = incoming
        // A context of the program without a function next to it is the box of a captured variable.
        if function == nil, isBox(steps, index), naming.maker(of: step.node) == nil { kind = .box }
      } else if kind == .task {
        function = naming.suspension(of: step.node)
      }
      result.append(
        Finding.Step(
          kind: kind, type: kind == .box ? "box" : type.name, qualifiedType: type.qualifiedName, function: function,
          allocation: naming.allocation(of: step.node), stack: naming.stack(of: step.node),
          address: RuntimeAddress(block.address), size: ByteCount(block.size),
          reference: nil, fields: kind == .object ? graph.fieldNames(of: step.node) : [],
          ownAllocation: naming.ownAllocation(of: step.node),
          ownFunction: kind == .task ? naming.ownSuspension(of: step.node) : nil,
          library: library(of: step.node, kind, function),
          isFromBefore: naming.isFromBefore(step.node) ? true : nil))
    }
    for (index, step) in steps.enumerated() {
      guard let edge = step.edge else { continue }
      let target = result[index + 1 < result.count ? index + 1 : 0]
      result[index].reference = reference(
        edge, of: step.node, from: result[index], to: target, closure: closures[index])
      // This is the context of a compiler-made function that only passes a closure on.
      if result[index].kind == .closure, result[index].function == nil, target.kind == .closure {
        result[index].library = FindingNaming.runtime
      }
    }
    return result
  }

  /// Returns the library that uses an object for itself. A closure belongs to the owner of its code.
  private func library(of node: NodeID, _ kind: NodeKind, _ function: SourceFrame?) -> String? {
    if kind == .closure, let function { return naming.library(of: function, among: [function]) }
    return kind == .task ? nil : naming.library(of: node)
  }

  /// Returns the function that a reference finally calls, after all thunks that convert the reference.
  private func closureBehindThunks(_ edge: EdgeIndex, from node: NodeID, _ thunks: ThunkTargets) -> SourceFrame? {
    var (edge, node) = (edge, node)
    for _ in 0..<Self.maxThunkDepth {
      let frame = naming.closure(of: edge, from: node)
      let target = graph.graph.target(of: edge)
      guard let beyond = thunks[target], naming.isThunk(frame), let inner = naming.closure(of: beyond, from: target)
      else { return frame }
      (edge, node) = (beyond, target)
      if thunks[graph.graph.target(of: beyond)] == nil { return inner }
    }
    return nil
  }

  /// Maximum number of thunks in a row. A longer row must be a cycle in a damaged heap.
  private static let maxThunkDepth = 4

  private func isBox(_ steps: [LeakGroup.Step], _ index: Int) -> Bool {
    let edge = index > 0 ? steps[index - 1].edge : steps.last?.edge
    guard let edge, let label = graph.label(graph.graph.label(of: edge)) else { return false }
    if case .closure = label.role { return false }
    return true
  }

  private func reference(
    _ edge: EdgeIndex, of node: NodeID, from step: Finding.Step, to target: Finding.Step, closure: SourceFrame?
  ) -> Finding.Reference {
    let heap = graph.graph
    let label = graph.label(heap.label(of: edge))
    let strength =
      EdgeStrength(rawValue: heap.kind(of: edge)).map { $0 == .taskLink || $0 == .surplus ? .conservative : $0 }
      ?? .conservative
    var name = label?.name ?? ""
    let isCapture = step.kind == .closure
    var isClosure = false
    if case .closure = label?.role { isClosure = true }
    if isCapture {
      let offset = label?.offset ?? EdgeLabelID(heap.label(of: edge)).scannedOffset.map { Int(clamping: $0) } ?? 0
      name = captureName(step, offset: offset, label: label)
      if name.isEmpty, !isClosure, mayBeSelf(edge, of: node, step, target) { name = "self" }
    }
    // If a closure captures only one object, the object itself is the closure's context.
    let capturesSelf = isClosure && target.kind != .closure && target.kind != .box && hasSelfForContext(closure, target)
    return Finding.Reference(
      name: name, strength: strength, isClosure: isClosure, isCapture: isCapture, capturesSelf: capturesSelf,
      closure: isClosure ? closure : nil,
      caseName: label?.caseName)
  }

  /// Returns the name of the captured variable, with the part of its value. Returns only the part if debug information
  /// does not identify the variable.
  private func captureName(_ step: Finding.Step, offset: Int, label: EdgeLabel?) -> String {
    let part = label?.name ?? ""
    let captured = naming.captures(of: step.function)?.variable(
      at: offset, typeName: label?.typeName ?? "", contextSize: Int(clamping: step.size.rawValue), isPart: !part.isEmpty
    )
    guard let captured else { return part }
    return part.isEmpty ? captured.name : "\(captured.name).\(part)"
  }

  /// Guesses whether a capture is `self` if its variable is not known. It is not `self` if another capture has the same
  /// type.
  private func mayBeSelf(_ edge: EdgeIndex, of node: NodeID, _ step: Finding.Step, _ target: Finding.Step) -> Bool {
    guard isSelf(of: step.function, target) else { return false }
    if let captures = naming.captures(of: step.function), !captures.variables.contains(where: { $0.name == "self" }) {
      return false
    }
    let type = graph.type(of: graph.graph.target(of: edge)).qualifiedName
    return !graph.graph.edges(from: node).contains {
      $0 != edge && graph.type(of: graph.graph.target(of: $0)).qualifiedName == type
    }
  }

  private func hasSelfForContext(_ closure: SourceFrame?, _ target: Finding.Step) -> Bool {
    if let captures = naming.captures(of: closure), captures.variables.count == 1 {
      return captures.variables[0].name == "self"
    }
    return isSelf(of: closure, target)
  }

  /// Returns whether a closure was written in a method of the captured object's type. Such a closure captured `self`.
  private func isSelf(of function: SourceFrame?, _ target: Finding.Step) -> Bool {
    guard target.kind == .object, let name = function?.closureName, let range = name.rangeAfterLast(" in ") else {
      return false
    }
    let method = name[range...]
    let type = target.type.prefix { $0 != "<" }
    return method.hasPrefix("\(type).") || method.hasPrefix("\(type)<") || method.contains(".\(type).")
  }
}

extension String {
  fileprivate func rangeAfterLast(_ separator: String) -> String.Index? {
    var index = endIndex
    while index > startIndex {
      index = self.index(before: index)
      if self[index...].hasPrefix(separator) { return self.index(index, offsetBy: separator.count) }
    }
    return nil
  }
}
