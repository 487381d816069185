// Determines whether the program still uses survivors: while it runs, and at its end.

import HeapAnalysis
import TraceReading

extension SurvivorFinder {
  /// Weakens a suspicion about the program's objects if the program used them at its end, or if its main function made
  /// them. Adds another suspicion, for objects of holders that are free of both.
  func weighUse(of family: Family, _ first: NodeID, in suspicion: inout Suspicion) {
    let use = lateUse(of: family)
    let isCalledBack = isCalledBack(family, first)
    let hasUnit = isCalledBack || origin(block(first).site).hasUnit
    guard use != .none || !hasUnit else { return }
    var other = suspicion
    (other.needsUnused, other.needsService) = (use != .none, !hasUnit)
    suspicion.others.append(other)
    if isCalledBack {
      // Objects that the program used again once all had been made are in use, unless it calls all of them.
      weigh(.unusedAtTheEnd, use != .long || areCalled(family, first), in: &suspicion.evidence)
      return
    }
    // A loop may keep the few objects that it was looking for, if the program uses them. If the other objects were also
    // kept for a while and then released, the suspicion is weak.
    if areSiblingsKept(family.lifetime) || use == .brief {
      weigh(use == .none ? .siblingsKept : .usedBriefly, false, in: &suspicion.evidence)
    } else {
      note(.madeByMain, .weakens, "unless an object has them")
      suspicion.needsRegistration = true
      suspicion.least = rules.minRegistered
    }
  }

  /// Returns whether siblings live through the births of others. Then some code keeps them for a while, and releases
  /// them. In a loop that searches, each sibling ends before the next is made.
  private func areSiblingsKept(_ lifetime: SiteLifetime) -> Bool { intervalsLived(lifetime) >= rules.keptIntervals }

  /// Returns whether an object's references were counted repeatedly at ages that siblings do not reach, so that the
  /// program works with the object. A last pass over all survivors is one use, at the last moment.
  func isInUse(_ node: NodeID, beyond limit: UInt64, in family: Family) -> Bool {
    let block = block(node)
    let use = use(of: node, in: family)
    let last = UInt64(use.last) * LiveBlock.useUnit
    guard last > block.ordinal else { return false }
    var ages = UInt64(use.ages)
    // The two octaves about the limit may be the end of the ordinary use. The last two may be a single pass.
    let longest = LiveBlock.ageBit(last - block.ordinal)
    ages &= ~0 << min(63, LiveBlock.ageBit(limit) + 2)
    ages &= longest == 0 ? 0 : (1 << longest) - 1
    return ages.nonzeroBitCount >= rules.minUseOctaves
  }

  /// Returns the uses of a survivor that count for its family.
  private func use(of node: NodeID, in family: Family) -> SingleUses.Use {
    if let uses = family.uses { return uses[node] ?? SingleUses.Use() }
    let block = block(node)
    return SingleUses.Use(last: block.lastUse, ages: block.useAges)
  }

  /// The use of survivors after the last event of their family. At that time, a program reads its results.
  enum LateUse {
    /// Hardly any survivor was used.
    case none
    /// Survivors were used no longer than a last pass takes.
    case brief
    case long
  }

  func lateUse(of family: Family) -> LateUse { lateUse(of: family.survivors, in: family) }

  /// Returns the late use of some survivors of a family.
  func lateUse(of survivors: [NodeID], in family: Family) -> LateUse {
    let lastEvent = family.lifetime.lastEventOrdinal
    let whole = activations.ordinal - min(activations.ordinal, family.lifetime.firstOrdinal)
    let phase = activations.ordinal - min(activations.ordinal, lastEvent)
    let end = lastEvent / LiveBlock.useUnit + 1
    let used = survivors.count { UInt64(use(of: $0, in: family).last) > end }
    if Double(used) <= rules.usedShare * Double(survivors.count) { return .none }
    return Double(phase) >= rules.minUsePhase * Double(whole) ? .long : .brief
  }
}
