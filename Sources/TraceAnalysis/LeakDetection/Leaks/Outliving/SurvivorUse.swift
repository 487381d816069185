// Tells whether the program still uses survivors: while it runs, and in its end.

import HeapAnalysis
import TraceReading

extension OutlivingFinder {
  /// Weakens a suspicion about the program's objects if the program used them at its end, or if its main function made
  /// them. Adds a suspicion about the objects of holders where neither is so.
  func weighUse(of family: Family, _ first: NodeID, in suspicion: inout Suspicion) {
    let use = lateUse(of: family)
    let isCalledBack = isCalledBack(family, first)
    let hasUnit = isCalledBack || origin(block(first).site).hasUnit
    guard use != .none || !hasUnit else { return }
    var other = suspicion
    (other.needsUnused, other.needsService) = (use != .none, !hasUnit)
    suspicion.others.append(other)
    if isCalledBack {
      // Objects that the program used again once all had been made are in use.
      weigh(.unusedAtTheEnd, use != .long, in: &suspicion.evidence)
      return
    }
    // A loop may keep of many those that it was looking for, if something is done with them. If the others were kept
    // for a while as well, and let go, that is a weak suspicion.
    if areSiblingsKept(family.lifetime) || use == .brief {
      weigh(use == .none ? .siblingsKept : .usedBriefly, false, in: &suspicion.evidence)
    } else {
      note(.madeByMain, .weakens, "unless an object has them")
      suspicion.needsRegistration = true
      suspicion.least = rules.leastRegistered
    }
  }

  /// Siblings live through the births of others. Some code keeps them for a while, and lets them go. In a loop that
  /// searches, each sibling ends before the next is made.
  private func areSiblingsKept(_ lifetime: SiteLifetime) -> Bool { intervalsLived(lifetime) >= rules.keptIntervals }

  /// Its references were counted again and again at ages that siblings do not reach: the program works with it. A last
  /// pass over all survivors is one use, at the last moment.
  func isInUse(_ node: NodeID, beyond limit: UInt64) -> Bool {
    let block = block(node)
    let last = UInt64(block.lastUse) * LiveBlock.useUnit
    guard last > block.ordinal else { return false }
    var ages = UInt64(block.useAges)
    // The two octaves about the limit may be the end of the ordinary use, the last two a single pass.
    let longest = LiveBlock.ageBit(last - block.ordinal)
    ages &= ~0 << min(63, LiveBlock.ageBit(limit) + 2)
    ages &= longest == 0 ? 0 : (1 << longest) - 1
    return ages.nonzeroBitCount >= rules.leastUseOctaves
  }

  /// The use of survivors after the last event of their family. A program goes through its results then.
  enum LateUse {
    /// Hardly any was.
    case none
    /// For no longer than a last pass takes.
    case brief
    case long
  }

  func lateUse(of family: Family) -> LateUse { lateUse(of: family.survivors, in: family) }

  /// The late use of some survivors of a family.
  func lateUse(of survivors: [NodeID], in family: Family) -> LateUse {
    let lastEvent = family.lifetime.lastEventOrdinal
    let whole = activations.ordinal - min(activations.ordinal, family.lifetime.firstOrdinal)
    let phase = activations.ordinal - min(activations.ordinal, lastEvent)
    let end = lastEvent / LiveBlock.useUnit + 1
    let used = survivors.count { UInt64(block($0).lastUse) > end }
    if Double(used) <= rules.usedShare * Double(survivors.count) { return .none }
    return Double(phase) >= rules.leastUsePhase * Double(whole) ? .long : .brief
  }
}
