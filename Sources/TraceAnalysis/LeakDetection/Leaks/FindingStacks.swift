// The stacks of a finding, with names.

import HeapAnalysis
import TraceReading
import TraceSymbolication

/// The allocation stacks of a finding's instances, and the stacks of the references that keep the shown instance.
package struct FindingStacks: Sendable {
  package struct Stack: Sendable {
    /// Innermost first.
    package var frames: [ReportFrame]
    /// Index of the program's innermost frame; nil if there is none.
    package var userFrame: Int?
    package var end: StackPath.End
  }

  package struct Allocation: Sendable {
    package var instances: Int
    package var stack: Stack
  }

  /// References that one place took and nothing released.
  package struct Reference: Sendable {
    package var operation: Operation
    package var count: UInt64
    package var stack: Stack
  }

  /// An object on the shown path.
  package struct HeldObject: Sendable {
    package var type: String
    package var address: RuntimeAddress
    /// Nil if its history is not known.
    package var references: [Reference]?
  }

  /// The allocation stacks, most instances first; incomplete if there are very many.
  package var allocations: [Allocation]
  /// The leaked object; for a cycle, the objects on the path.
  package var objects: [HeldObject]

  /// Maximum number of named frames of one stack. Recursion may be deeper.
  static let frameLimit = 512
  /// Maximum number of examined objects of a cycle.
  static let objectLimit = 16
}

/// Names the stacks of findings. For one thread at a time.
package struct FindingStackSearch {
  private let analysis: HistoryAnalysis
  private let heap: LiveHeap
  private let snapshot: TraceSnapshot
  private let hasReferences: Bool

  /// `allocations` must be an analysis with `snapshot`.
  package init(
    _ reader: TraceReader, _ allocations: AllocationAnalysis, snapshot: TraceSnapshot, naming: any FrameNaming
  ) {
    // The analysis has no heap image, so it does not compare counts in memory.
    analysis = HistoryAnalysis(reader, allocations, snapshot: nil, naming: naming)
    heap = LiveHeap(allocations.blocksAtSnapshot)
    self.snapshot = snapshot
    hasReferences = reader.header.referenceCounting != .off
  }

  /// Returns the stacks of findings, by fingerprint. Reads the events once if retains were recorded.
  package func stacks(of findings: [Finding]) -> [String: FindingStacks] {
    let steps = findings.map(subjects)
    let blocks = steps.map { $0.map { block(of: $0) } }
    let open =
      hasReferences ? analysis.openReferences(of: blocks.joined().compactMap { $0 }, until: snapshot.time) : [:]
    var result: [String: FindingStacks] = [:]
    for (index, finding) in findings.enumerated() where result[finding.fingerprint] == nil {
      let objects = zip(steps[index], blocks[index]).map { step, block in
        FindingStacks.HeldObject(
          type: step.type, address: step.address,
          references: block.flatMap { open[$0.identity] }.map {
            $0.map { .init(operation: $0.operation, count: $0.count, stack: stack($0.place.stack)) }
          })
      }
      result[finding.fingerprint] = FindingStacks(
        allocations: finding.origins.stacks.map { .init(instances: $0.instances, stack: stack($0.stack)) },
        objects: objects)
    }
    return result
  }

  /// Returns the objects of a finding that should have been released.
  private func subjects(_ finding: Finding) -> [Finding.Step] {
    // The path is from another heap image. Another block may have the address in the meantime.
    if let number = finding.evidence.retention?.snapshot, number != snapshot.number { return [] }
    if finding.evidence.isCycle {
      return Array(finding.path.filter { $0.kind.isCounted }.prefix(FindingStacks.objectLimit))
    }
    switch finding.verdict {
    case .retainCycle, .lost, .suspended: return finding.path.first.map { [$0] } ?? []
    case .deinitialised, .outlived, .accumulating, .growing: return finding.path.last.map { [$0] } ?? []
    // The object is gone. The finding itself describes its end.
    case .dangling: return []
    }
  }

  private func block(of step: Finding.Step) -> LiveBlock? {
    guard step.kind.isCounted, let id = heap.block(containing: step.address.rawValue),
      heap[id].address == step.address.rawValue
    else { return nil }
    return heap[id]
  }

  private func stack(_ id: StackID) -> FindingStacks.Stack {
    let (frames, end) = analysis.frames(of: id, limit: FindingStacks.frameLimit)
    return FindingStacks.Stack(frames: frames, userFrame: frames.firstIndex { $0.source.kind == .user }, end: end)
  }
}
