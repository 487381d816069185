// Assigns lost memory of a light recording to places, by its samples.

import HeapAnalysis
import TraceReading
import TraceSymbolication

/// Finds stacks for groups of lost blocks if some of the blocks were sampled. For one thread at a time.
///
/// For untyped memory, a heap image shows only the size. For a library's object, it shows only the class. Blocks that
/// are equal in this respect are one kind.
///
/// If all drawn samples of a kind come from one place, its other blocks are assumed to come from that place, too. If
/// they come from several places, each place keeps its samples, and the origin of the unsampled blocks is unknown. The
/// first allocations of a recording are all sampled. They are not drawn by chance, so they say nothing about later
/// allocations.
struct SampledLosses {
  private let graph: ObjectGraph
  private let naming: FindingNaming
  private let contents: ContentsOwner
  /// The only place of a kind's drawn samples. It is used for blocks that were not sampled.
  private var stacks: [Kind: StackID] = [:]
  private var places: [StackID: Finding.PlaceKey] = [:]

  /// The features of blocks that do not depend on their stacks.
  private struct Kind: Hashable {
    /// Index of the node's type.
    var type: UInt32
    /// The allocated size of untyped memory; 0 for objects.
    var size: UInt64 = 0
  }

  /// `groups`: all groups of the heap image. Linear in the lost blocks without an owner, in the depth of their stacks,
  /// and in the sampled sites.
  init(_ graph: ObjectGraph, naming: FindingNaming, groups: [LeakGroup]) {
    (self.graph, self.naming) = (graph, naming)
    contents = ContentsOwner(graph, definitions: naming.definitions)
    var sizes: Set<UInt64> = []
    var sampled: [(kind: Kind, stack: StackID)] = []
    for group in groups where isUnreported(group) {
      for member in group.members {
        let kind = kind(of: member.node)
        if let stack = naming.sampledStack(of: member.node) {
          sampled.append((kind, stack))
        } else if kind.size > 0 {
          sizes.insert(kind.size)
        }
      }
    }
    guard !sampled.isEmpty else { return }
    let drawn = Self.drawnStacks(naming.definitions, at: graph.snapshot.time)
    var isDrawn: [StackID: Bool] = [:]
    let sorted = sizes.sorted()
    var several: Set<Kind> = []
    for (kind, stack) in sampled {
      if places[stack] == nil {
        let type = graph.types[Int(kind.type)]
        places[stack] = Finding.PlaceKey(naming.allocation(stack, of: type) ?? naming.caller(stack))
        isDrawn[stack] = drawn?.contains(naming.definitions.stacks.path(of: stack).frames.reversed().map(\.key)) ?? true
      }
      guard isDrawn[stack] == true else { continue }
      var kind = kind
      if kind.size > 0 {
        guard let rounded = Self.rounded(kind.size, among: sorted, page: graph.image.kernelPageSize) else { continue }
        kind.size = rounded
      }
      if let known = stacks[kind], places[known] != places[stack] { several.insert(kind) }
      stacks[kind] = min(stacks[kind] ?? stack, stack)
    }
    for kind in several { stacks[kind] = nil }
  }

  /// Returns the parts of a group, one for each place. A part has a stack if one is known. Linear in the members.
  func parts(of group: LeakGroup) -> [LeakGroup] {
    guard isUnreported(group) else { return [group] }
    var parts: [(stack: StackID?, members: [LeakGroup.Member])] = []
    var numbers: [Finding.PlaceKey?: Int] = [:]
    for member in group.members {
      let stack = naming.sampledStack(of: member.node) ?? stacks[kind(of: member.node)]
      let place = stack.flatMap { places[$0] }
      if let known = numbers[place] {
        parts[known].members.append(member)
      } else {
        numbers[place] = parts.count
        parts.append((stack, [member]))
      }
    }
    return parts.compactMap { stack, members in
      // The whole group keeps the facts about its shown instance.
      var part = parts.count == 1 ? group : group.part(members)
      part?.sampledStack = stack
      return part
    }
  }

  private func kind(of node: NodeID) -> Kind {
    let isMemory = graph.type(of: node).kind == .malloc
    return Kind(type: graph.nodeTypes[Int(node)], size: isMemory ? graph.heap[BlockID(node)].size : 0)
  }

  /// Returns whether the group's allocations were not recorded, and its contents do not identify an owner. True for all
  /// unrecorded untyped memory, since its contents do not show its place.
  private func isUnreported(_ group: LeakGroup) -> Bool {
    guard group.verdict == .lost, let first = group.steps.first?.node, naming.stack(of: first) == .empty else {
      return false
    }
    if graph.type(of: first).kind == .malloc { return true }
    if case .program = contents.owner(of: first, keeping: group.held) { return false }
    return true
  }

  /// Returns the stacks of live samples that also represent other blocks, outermost frame first; nil if the trace has
  /// no such stacks.
  private static func drawnStacks(_ definitions: TraceDefinitions, at time: UInt64) -> Set<[FrameKey]>? {
    let sites = definitions.sampledSites.filter { $0.time <= time }
    guard let last = sites.last?.time else { return nil }
    return Set(sites.lazy.filter { $0.time == last && $0.live.objects > $0.live.samples }.map(\.frames))
  }

  /// Returns the allocated size for a requested size: the next size among the sizes of other blocks, unless it is too
  /// large. Logarithmic in the sizes.
  ///
  /// - Parameter page: Bytes of a page of the traced program's kernel.
  static func rounded(_ size: UInt64, among sizes: [UInt64], page: UInt64) -> UInt64? {
    var low = 0
    var high = sizes.count
    while low < high {
      let middle = (low + high) / 2
      if sizes[middle] < size { low = middle + 1 } else { high = middle }
    }
    guard low < sizes.count else { return nil }
    let addition = sizes[low] - size
    let isMapped = (sizes[low] + mappedHeader) % page == 0 && addition < page + mappedReserve
    return isMapped || addition <= max(smallStep, size / largestShare) ? sizes[low] : nil
  }

  /// The largest additions when allocators round sizes up. They round small sizes to multiples of 16, and the smallest
  /// block of glibc has 24 bytes. They round larger sizes up by at most a quarter (jemalloc and mimalloc) or an eighth
  /// (tcmalloc).
  private static let smallStep: UInt64 = 24
  private static let largestShare: UInt64 = 4
  /// glibc maps large blocks by themselves. Such a block fills whole pages after a header of this size. With pages of
  /// 64 KiB, this can add half of the size. All other blocks of glibc end 8 bytes after a multiple of 16, so the sizes
  /// cannot be confused.
  private static let mappedHeader: UInt64 = 16
  /// glibc takes another page already if fewer than 8 bytes would stay unused.
  private static let mappedReserve: UInt64 = 8
}
