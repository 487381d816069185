// The memory that the objects of a finding keep alive.

import HeapAnalysis
import TraceReading

/// Sums up the memory that leaked objects keep in addition to the objects on their path, by type name.
struct HeldObjects {
  private let graph: ObjectGraph

  init(_ graph: ObjectGraph) { self.graph = graph }

  /// Returns the objects that the shown instance keeps in addition to its path.
  func types(by group: LeakGroup) -> [Finding.HeldType] {
    var sums = group.held
    for node in Set(group.steps.map(\.node)) {
      let type = graph.nodeTypes[Int(node)]
      guard let sum = sums[type], sum.blocks > 1 else {
        sums[type] = nil
        continue
      }
      sums[type] = BlockSum(blocks: sum.blocks - 1, bytes: sum.bytes &- graph.heap[BlockID(node)].size)
    }
    return byName(sums)
  }

  /// Returns sums by the name of the type, most bytes first. Several types may have one name.
  func byName(_ sums: [UInt32: BlockSum]) -> [Finding.HeldType] {
    var byName: [String: BlockSum] = [:]
    for (type, sum) in sums {
      let name = graph.types[Int(type)].name
      byName[name, default: .init()].blocks += sum.blocks
      byName[name, default: .init()].bytes &+= sum.bytes
    }
    return byName.map { Finding.HeldType(name: $0.key, count: $0.value.blocks, bytes: ByteCount($0.value.bytes)) }
      .sorted { ($1.bytes, $0.name) < ($0.bytes, $1.name) }
  }
}
