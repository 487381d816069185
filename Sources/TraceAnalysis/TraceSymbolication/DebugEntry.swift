// Reads attributes and references of an entry of debug information.

import CElfutils

extension Dwarf_Die {
  /// Maximum number of references that are followed from entry to entry, for example from a type's alias to the type.
  /// Real chains have a few references. Damaged chains may be endless.
  static let chainLimit = 16

  /// Returns the entry that an attribute refers to. Mutating, since libdw caches data in the entry.
  mutating func reference(_ name: Int) -> Dwarf_Die? {
    var attribute = Dwarf_Attribute()
    var target = Dwarf_Die()
    guard dwarf_attr(&self, UInt32(name), &attribute) != nil, dwarf_formref_die(&attribute, &target) != nil else {
      return nil
    }
    return target
  }

  mutating func number(_ name: Int) -> UInt64? {
    var attribute = Dwarf_Attribute()
    var value: Dwarf_Word = 0
    guard dwarf_attr(&self, UInt32(name), &attribute) != nil, dwarf_formudata(&attribute, &value) == 0 else {
      return nil
    }
    return value
  }

  /// The abstract instance of an inlined or copied function. It has all parameters; the entry of a copy lacks
  /// parameters that were optimised away.
  var abstractInstance: Dwarf_Die {
    var die = self
    for _ in 0..<Self.chainLimit {
      guard let next = die.reference(DW_AT_abstract_origin) else { break }
      die = next
    }
    return die
  }
}
