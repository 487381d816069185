// The names that things of both sides are made of, as numbers.

/// Numbers names, and knows on which side each occurs. For one thread at a time.
final class Vocabulary {
  enum Side { case old, new }

  /// Stands for any name that one side alone has.
  static let wildcard: Int32 = -1

  private var numbers: [String: Int32] = [:]
  private var names: [String] = []
  private var isOld: [Bool] = []
  private var isNew: [Bool] = []
  /// By number: what an old name is called now.
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

  /// The new side has this old name, or one that has taken its place.
  func isOnNewSide(_ old: Int32) -> Bool { successors[old] != nil || isNew[Int(old)] }

  /// The old side has this new name, or had another in its place.
  func isOnOldSide(_ new: Int32) -> Bool { predecessors.contains(new) || isOld[Int(new)] }

  func isOnNewSide(name: String) -> Bool { numbers[name].map(isOnNewSide) ?? false }

  func isOnOldSide(name: String) -> Bool { numbers[name].map(isOnOldSide) ?? false }

  /// Returns an old name's counterpart on the new side; the name itself if nothing is known of it.
  func currentName(_ name: String) -> String { numbers[name].map { self.name(current($0)) } ?? name }

  func name(_ number: Int32) -> String { names[Int(number)] }

  /// Returns an old name's counterpart on the new side.
  func current(_ number: Int32) -> Int32 { successors[number] ?? number }

  /// An old name as it is compared: by its successor, or as a wildcard if the new side has nothing of that name.
  func masked(old number: Int32) -> Int32 {
    if let successor = successors[number] { return successor }
    return isNew[Int(number)] ? number : Self.wildcard
  }

  /// A new name as it is compared: a wildcard if the old side has nothing of that name, under this name or another.
  func masked(new number: Int32) -> Int32 {
    isOld[Int(number)] || predecessors.contains(number) ? number : Self.wildcard
  }

  /// Somebody may have called by the one name what had the other.
  func canBecome(_ old: Int32, _ new: Int32) -> Bool { DiffRename(old: name(old), new: name(new)).isPlausible }

  /// From 0.25 for names that have nothing in common to 2 for those with one last part.
  func resemblance(_ old: Int32, _ new: Int32) -> Double {
    let resemblance = DiffRename(old: name(old), new: name(new)).resemblance
    return 0.25 + resemblance * resemblance
  }

  func isFunction(_ number: Int32) -> Bool { DiffRename.isFunction(name(number)) }

  /// Of functions: the types that they belong to are the same, or one has taken the other's name.
  func followsOwners(_ old: Int32, _ new: Int32) -> Bool {
    let (a, b) = (DiffRename.owner(of: name(old)), DiffRename.owner(of: name(new)))
    if a == b { return true }
    // A name without an owner may have found one, and one with an owner may have lost it.
    if a.isEmpty || b.isEmpty { return true }
    return successors.contains { DiffRename.isName(a, endOf: name($0)) && DiffRename.isName(b, endOf: name($1)) }
  }

  /// Gives an old name that the new side has not the one that it has with other names replaced in it, if the new side
  /// alone has that. True if it does.
  /// `index` has the renames by their numbers.
  func follow(_ old: Int32, _ renames: [DiffRename], _ index: inout RenameIndex) -> Bool {
    guard isOld[Int(old)], !isOnNewSide(old) else { return false }
    var text = name(old)
    var first = 0
    // One by one, in their order: what a rename has put there may be another's.
    while let next = index.candidates(in: text, from: first).first {
      text = text.replacingName(renames[next].old, with: renames[next].new)
      first = next + 1
    }
    guard let new = numbers[text], isNew[Int(new)], !isOnOldSide(new) else { return false }
    rename(old, to: new)
    return true
  }

  /// Names of a site that are looked at for renames: more than stacks of programs have.
  private static let renameDepth = 512

  /// Returns the names among old ones that others have taken the place of.
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
