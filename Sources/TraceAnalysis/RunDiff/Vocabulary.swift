// The names of both sides' items, as numbers.

/// Assigns numbers to names, and records the sides that have each name. For one thread at a time.
final class Vocabulary {
  enum Side { case old, new }

  /// Replaces any name that only one side has.
  static let wildcard: Int32 = -1

  private var numbers: [String: Int32] = [:]
  private var names: [String] = []
  private var isOld: [Bool] = []
  private var isNew: [Bool] = []
  /// The new name of each renamed old name, by number.
  private(set) var successors: [Int32: Int32] = [:]
  private var predecessors: Set<Int32> = []

  func number(of name: String, on side: Side) -> Int32 {
    let number: Int32
    if let known = numbers[name] {
      number = known
    } else {
      number = Int32(names.count)
      numbers[name] = number
      names.append(name)
      isOld.append(false)
      isNew.append(false)
    }
    if side == .old { isOld[Int(number)] = true } else { isNew[Int(number)] = true }
    return number
  }

  /// Returns whether the new side has this old name, or its successor.
  func isOnNewSide(_ old: Int32) -> Bool { successors[old] != nil || isNew[Int(old)] }

  /// Returns whether the old side has this new name, or its predecessor.
  func isOnOldSide(_ new: Int32) -> Bool { predecessors.contains(new) || isOld[Int(new)] }

  func isOnNewSide(name: String) -> Bool { numbers[name].map(isOnNewSide) ?? false }

  func isOnOldSide(name: String) -> Bool { numbers[name].map(isOnOldSide) ?? false }

  /// Returns an old name's counterpart on the new side; the name itself if no counterpart is known.
  func currentName(_ name: String) -> String { numbers[name].map { self.name(current($0)) } ?? name }

  func name(_ number: Int32) -> String { names[Int(number)] }

  /// Returns an old name's counterpart on the new side.
  func current(_ number: Int32) -> Int32 { successors[number] ?? number }

  /// Returns an old name for comparison. This is its successor if it was renamed, the name itself if the new side has
  /// it, and otherwise a wildcard.
  func masked(old number: Int32) -> Int32 {
    if let successor = successors[number] { return successor }
    return isNew[Int(number)] ? number : Self.wildcard
  }

  /// Returns a new name for comparison: a wildcard if the old side has neither the name nor its predecessor.
  func masked(new number: Int32) -> Int32 {
    isOld[Int(number)] || predecessors.contains(number) ? number : Self.wildcard
  }

  /// Returns whether a developer may have renamed the old name to the new one.
  func canBecome(_ old: Int32, _ new: Int32) -> Bool { DiffRename(old: name(old), new: name(new)).isPlausible }

  /// Returns the resemblance of two names, from 0.25 for names with nothing in common to 2 for names with the same last
  /// part.
  func resemblance(_ old: Int32, _ new: Int32) -> Double {
    let resemblance = DiffRename(old: name(old), new: name(new)).resemblance
    return 0.25 + resemblance * resemblance
  }

  func isFunction(_ number: Int32) -> Bool { DiffRename.isFunction(name(number)) }

  /// Returns whether two functions belong to the same type, or to an old type and its new name.
  func followsOwners(_ old: Int32, _ new: Int32) -> Bool {
    let (a, b) = (DiffRename.owner(of: name(old)), DiffRename.owner(of: name(new)))
    if a == b { return true }
    // A function may have been moved into a type, or out of one.
    if a.isEmpty || b.isEmpty { return true }
    return successors.contains { DiffRename.isName(a, endOf: name($0)) && DiffRename.isName(b, endOf: name($1)) }
  }

  /// Finds the successor of an old name that the new side lacks. Applies the renames to the name. If only the new side
  /// has the result, the result is the successor. Returns whether there is a successor. `index` must have the renames
  /// by their numbers.
  func follow(_ old: Int32, _ renames: [DiffRename], _ index: inout RenameIndex) -> Bool {
    guard isOld[Int(old)], !isOnNewSide(old) else { return false }
    var text = name(old)
    var first = 0
    // Apply renames one by one, in order: the result of one may contain a name that the next replaces.
    while let next = index.candidates(in: text, from: first).first {
      text = text.replacingName(renames[next].old, with: renames[next].new)
      first = next + 1
    }
    guard let new = numbers[text], isNew[Int(new)], !isOnOldSide(new) else { return false }
    rename(old, to: new)
    return true
  }

  /// Maximum number of a site's names that are examined for renames. Stacks of real programs have fewer.
  private static let renameDepth = 512

  /// Returns the renames of the old names that were replaced.
  func renames(of names: [Int32]) -> [DiffRename] {
    DiffRename.simplest(
      Set(names.prefix(Self.renameDepth)).compactMap { old in
        successors[old].map { DiffRename(old: name(old), new: name($0)) }
      }.sorted())
  }

  func rename(_ old: Int32, to new: Int32) {
    successors[old] = new
    predecessors.insert(new)
  }
}
