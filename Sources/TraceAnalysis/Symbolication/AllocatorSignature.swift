// Functions that hand out memory for any purpose, known by what they are declared to take and give.

import CElfutils

/// The signature of an allocator: a number of bytes goes in, memory of no type comes out, as in `void *xmalloc(size_t)` or `allocate(bytes: Int) -> UnsafeMutableRawPointer`.
///
/// A function with it does not know what the memory is for; its caller does. One that makes something gives a pointer to that.
enum AllocatorSignature {
  private static let chainLimit = 16
  /// More parameters than any function has.
  private static let parameterLimit = 512

  /// Whether a function of C or C++, or an inlined call of one, is declared so. O(parameters).
  static func isDeclared(by function: Dwarf_Die) -> Bool {
    var declaration = function
    var result = Dwarf_Attribute()
    guard dwarf_attr_integrate(&declaration, UInt32(DW_AT_type), &result) != nil else { return false }
    var type = Dwarf_Die()
    guard dwarf_formref_die(&result, &type) != nil, let resolved = plain(type) else { return false }
    var pointer = resolved
    // A pointer to nothing is one to `void`.
    guard dwarf_tag(&pointer) == DW_TAG_pointer_type, reference(&pointer, DW_AT_type) == nil else { return false }
    return takesNumber(origin(function))
  }

  /// Whether a Swift function is, by its demangled name with all types.
  static func isDeclared(by swiftName: String) -> Bool {
    guard swiftName.hasSuffix(" -> Swift.UnsafeMutableRawPointer") || swiftName.hasSuffix(" -> Swift.UnsafeMutableRawPointer?")
      || swiftName.hasSuffix(" -> Swift.Optional<Swift.UnsafeMutableRawPointer>")
    else { return false }
    return ["Swift.Int", "Swift.UInt"].contains { swiftName.contains($0) }
  }

  private static func takesNumber(_ function: Dwarf_Die) -> Bool {
    var function = function
    var die = Dwarf_Die()
    guard dwarf_child(&function, &die) == 0 else { return false }
    for _ in 0..<parameterLimit {
      if dwarf_tag(&die) == DW_TAG_formal_parameter {
        var parameter = origin(die)
        if let type = reference(&parameter, DW_AT_type), let plain = plain(type), isNumberOfBytes(plain) { return true }
      }
      guard moveToSibling(&die) else { return false }
    }
    return false
  }

  /// An integer of the size of `int` at least.
  private static func isNumberOfBytes(_ type: Dwarf_Die) -> Bool {
    var type = type
    guard dwarf_tag(&type) == DW_TAG_base_type, let encoding = number(&type, DW_AT_encoding), let size = number(&type, DW_AT_byte_size) else { return false }
    return [DW_ATE_signed, DW_ATE_unsigned].contains(Int(encoding)) && size >= 4
  }

  /// A type behind its other names and qualifiers; nil for `void` under another name.
  private static func plain(_ type: Dwarf_Die) -> Dwarf_Die? {
    var type = type
    for _ in 0..<chainLimit {
      switch Int(dwarf_tag(&type)) {
      case DW_TAG_typedef, DW_TAG_const_type, DW_TAG_volatile_type, DW_TAG_restrict_type, DW_TAG_atomic_type:
        guard let next = reference(&type, DW_AT_type) else { return nil }
        type = next
      default: return type
      }
    }
    return nil
  }

  /// The abstract instance of what was inlined or copied: that has all parameters.
  private static func origin(_ die: Dwarf_Die) -> Dwarf_Die {
    var die = die
    for _ in 0..<chainLimit {
      guard let next = reference(&die, DW_AT_abstract_origin) else { break }
      die = next
    }
    return die
  }

  private static func reference(_ die: inout Dwarf_Die, _ name: Int) -> Dwarf_Die? {
    var attribute = Dwarf_Attribute()
    var target = Dwarf_Die()
    guard dwarf_attr(&die, UInt32(name), &attribute) != nil, dwarf_formref_die(&attribute, &target) != nil else { return nil }
    return target
  }

  private static func number(_ die: inout Dwarf_Die, _ name: Int) -> UInt64? {
    var attribute = Dwarf_Attribute()
    var value: Dwarf_Word = 0
    guard dwarf_attr(&die, UInt32(name), &attribute) != nil, dwarf_formudata(&attribute, &value) == 0 else { return nil }
    return value
  }
}
