// Groups the live objects by the generations that the program marked.

import TraceReading

/// The live objects that were made between two marks.
package struct Generation: Hashable, Sendable {
  package struct Share: Hashable, Sendable {
    package var type: String
    package var objects: UInt64
    package var bytes: ByteCount
  }

  /// Nil for objects made before the first mark.
  package var start: GenerationStart?
  /// Live Swift objects, contexts of closures and tasks. `bytes` counts their own bytes.
  package var objects: UInt64
  package var bytes: ByteCount
  /// By type, most bytes first.
  package var shares: [Share]
}

extension HeapModel {
  /// The generations that the program marked, in order; none if it marked none. Linear in the live blocks.
  package var generations: [Generation] {
    let starts = statements.generations.sorted { $0.time < $1.time }
    guard !starts.isEmpty else { return [] }
    var sums = [[Int: (objects: UInt64, bytes: UInt64)]](repeating: [:], count: starts.count + 1)
    for (index, block) in graph.heap.blocks.enumerated() {
      let type = Int(graph.nodeTypes[index])
      guard graph.types[type].kind.isCounted else { continue }
      var low = 0
      var high = starts.count
      while low < high {
        let middle = (low + high) / 2
        if starts[middle].time <= block.birthTime { low = middle + 1 } else { high = middle }
      }
      let known = sums[low][type] ?? (0, 0)
      sums[low][type] = (known.objects + 1, known.bytes &+ block.size)
    }
    return sums.enumerated().map { number, byType in
      var shares: [String: Generation.Share] = [:]
      for (type, sum) in byType {
        let name = graph.types[type].name
        var share = shares[name] ?? .init(type: name, objects: 0, bytes: ByteCount(0))
        share.objects += sum.objects
        share.bytes.rawValue &+= sum.bytes
        shares[name] = share
      }
      return Generation(
        start: number == 0 ? nil : starts[number - 1], objects: byType.values.reduce(0) { $0 + $1.objects },
        bytes: ByteCount(byType.values.reduce(0) { $0 &+ $1.bytes }),
        shares: shares.values.sorted { ($1.bytes, $0.type) < ($0.bytes, $1.type) })
    }
  }
}
