// Recognises functions that allocate memory for any purpose, by their declared parameters and results.

import CElfutils

/// The signature of an allocator: it takes a number of bytes and returns memory of no type. Examples: `void
/// *xmalloc(size_t)` and `allocate(bytes: Int) -> UnsafeMutableRawPointer`.
///
/// The caller of such a function decides the purpose of the memory. A function that makes a value of a certain type
/// would return a typed pointer.
enum AllocatorSignature {
  /// Maximum number of parameters that are read. No real function has more.
  private static let parameterLimit = 512

  /// Returns whether a C or C++ function, or an inlined call of such a function, has this signature. O(parameters).
  static func isDeclared(by function: Dwarf_Die) -> Bool {
    var declaration = function
    var result = Dwarf_Attribute()
    guard dwarf_attr_integrate(&declaration, UInt32(DW_AT_type), &result) != nil else { return false }
    var type = Dwarf_Die()
    guard dwarf_formref_die(&result, &type) != nil, let resolved = plain(type) else { return false }
    var pointer = resolved
    // A pointer without a target type is a pointer to `void`.
    guard dwarf_tag(&pointer) == DW_TAG_pointer_type, pointer.reference(DW_AT_type) == nil else { return false }
    return takesNumber(function.abstractInstance)
  }

  /// Returns whether a Swift function has this signature. `swiftName` is the function's demangled name with all types.
  static func isDeclared(by swiftName: String) -> Bool {
    guard
      swiftName.hasSuffix(" -> Swift.UnsafeMutableRawPointer")
        || swiftName.hasSuffix(" -> Swift.UnsafeMutableRawPointer?")
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
        var parameter = die.abstractInstance
        if let type = parameter.reference(DW_AT_type), let plain = plain(type), isNumberOfBytes(plain) { return true }
      }
      guard moveToSibling(&die) else { return false }
    }
    return false
  }

  /// Returns whether a type is an integer of at least the size of `int`.
  private static func isNumberOfBytes(_ type: Dwarf_Die) -> Bool {
    var type = type
    guard dwarf_tag(&type) == DW_TAG_base_type, let encoding = type.number(DW_AT_encoding),
      let size = type.number(DW_AT_byte_size)
    else { return false }
    return [DW_ATE_signed, DW_ATE_unsigned].contains(Int(encoding)) && size >= 4
  }

  /// Returns a type without its aliases and qualifiers; nil for an alias of `void`.
  private static func plain(_ type: Dwarf_Die) -> Dwarf_Die? {
    var type = type
    for _ in 0..<Dwarf_Die.chainLimit {
      switch Int(dwarf_tag(&type)) {
      case DW_TAG_typedef, DW_TAG_const_type, DW_TAG_volatile_type, DW_TAG_restrict_type, DW_TAG_atomic_type:
        guard let next = type.reference(DW_AT_type) else { return nil }
        type = next
      default: return type
      }
    }
    return nil
  }
}
