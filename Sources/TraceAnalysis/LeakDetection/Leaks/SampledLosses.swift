// Lost memory of a light recording, told apart by the samples that were taken of it.

import HeapAnalysis
import TraceReading
import TraceSymbolication

/// Finds the stacks that stand for lost blocks of which some were sampled. For one thread at a time.
///
/// Of memory without a type, an image has nothing but the size. If all samples of one size come from one place, so do
/// the other blocks of that size, as far as anybody can tell. If they come from several places, each place has its
/// samples, and nobody knows where the blocks come from that were not sampled.
struct SampledLosses {
  private let graph: ObjectGraph
  private let naming: FindingNaming
  /// By size, as the allocator has it, of blocks that were not sampled: the one place of those that were.
  private var stacks: [UInt64: StackID] = [:]
  private var places: [StackID: Finding.PlaceKey] = [:]

  /// `groups`: all of the image. Linear in the lost blocks without a type, and in the depth of their stacks.
  init(_ graph: ObjectGraph, naming: FindingNaming, groups: [LeakGroup]) {
    (self.graph, self.naming) = (graph, naming)
    var sizes: Set<UInt64> = []
    var sampled: [(size: UInt64, stack: StackID)] = []
    for group in groups where isUntold(group) {
      for member in group.members {
        let size = graph.heap[BlockID(member.node)].size
        if let stack = naming.sampledStack(of: member.node) {
          sampled.append((size, stack))
          if places[stack] == nil {
            places[stack] = Finding.PlaceKey(naming.allocation(stack, of: Self.untold) ?? naming.caller(stack))
          }
        } else {
          sizes.insert(size)
        }
      }
    }
    let sorted = sizes.sorted()
    var placeOfSize: [UInt64: Finding.PlaceKey] = [:]
    var several: Set<UInt64> = []
    for (size, stack) in sampled {
      guard let rounded = Self.rounded(size, among: sorted) else { continue }
      if let known = placeOfSize[rounded], known != places[stack] { several.insert(rounded) }
      placeOfSize[rounded] = places[stack]
      stacks[rounded] = min(stacks[rounded] ?? stack, stack)
    }
    for size in several { stacks[size] = nil }
  }

  /// Returns the parts of a group, each with its stack, if it has one. Linear in the members, and in the depth of their
  /// stacks.
  func parts(of group: LeakGroup) -> [LeakGroup] {
    guard isUntold(group) else { return [withStack(group)] }
    var parts: [(stack: StackID?, members: [LeakGroup.Member])] = []
    var numbers: [Finding.PlaceKey?: Int] = [:]
    for member in group.members {
      let stack =
        naming.sampledStack(of: member.node) ?? stacks[graph.heap[BlockID(member.node)].size]
      let place = stack.flatMap { places[$0] }
      if let known = numbers[place] {
        parts[known].members.append(member)
      } else {
        numbers[place] = parts.count
        parts.append((stack, [member]))
      }
    }
    return parts.compactMap { stack, members in
      // The whole group keeps what is known of its shown instance.
      var part = parts.count == 1 ? group : group.part(members)
      part?.sampledStack = stack
      return part
    }
  }

  /// Objects of one type are one finding, wherever they were made: the stack that most of the samples have.
  private func withStack(_ group: LeakGroup) -> LeakGroup {
    guard group.verdict == .lost, let first = group.steps.first?.node, naming.stack(of: first) == .empty else {
      return group
    }
    var counts: [StackID: Int] = [:]
    for member in group.members {
      if let stack = naming.sampledStack(of: member.node) { counts[stack, default: 0] += 1 }
    }
    var result = group
    result.sampledStack = counts.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
    return result
  }

  /// Memory of malloc whose allocation was not recorded.
  private func isUntold(_ group: LeakGroup) -> Bool {
    guard group.verdict == .lost, let first = group.steps.first?.node else { return false }
    return graph.type(of: first).kind == .malloc && naming.stack(of: first) == .empty
  }

  private static let untold = NodeType(kind: .malloc, qualifiedName: "malloc", name: "malloc", typeID: 0)

  /// Returns the size that an allocator gave a block for which so much was asked, among those that it gave others: the
  /// next one, unless that is too large. Logarithmic in the sizes.
  static func rounded(_ size: UInt64, among sizes: [UInt64]) -> UInt64? {
    var low = 0
    var high = sizes.count
    while low < high {
      let middle = (low + high) / 2
      if sizes[middle] < size { low = middle + 1 } else { high = middle }
    }
    guard low < sizes.count, sizes[low] - size <= max(smallStep, size / largestShare) else { return nil }
    return sizes[low]
  }

  /// Allocators round small sizes to multiples of 16, with the smallest block of glibc's at 24, and larger ones up by a
  /// quarter at most (jemalloc and mimalloc; tcmalloc by an eighth, glibc to a page).
  private static let smallStep: UInt64 = 24
  private static let largestShare: UInt64 = 4
}
