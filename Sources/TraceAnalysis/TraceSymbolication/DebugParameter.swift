// The parameters of a function, from debug information. A closure's captures are its last parameters.

import CElfutils

/// A parameter of a function.
struct DebugParameter {
  var name: String
  /// The linkage name of the parameter's type; `nil` if none is recorded.
  var mangledType: String?
  /// The size of a value, in bytes; `nil` if the size is not known at compile time.
  var size: Int?
  /// True if the parameter is declared with `let`, or is constant by default.
  var isConstant: Bool
  /// The line of the declaration, from 1; 0 if it is not recorded.
  var line: Int
}

/// The parameters of a function, the captured ones last.
struct DebugParameters {
  var parameters: [DebugParameter] = []
  /// The line where the function begins; 0 if it is not recorded.
  var line = 0
  /// True if the function is generic and not specialised, so that callers pass metadata of types.
  var isGeneric = false

  /// Maximum number of parameters. No real function has more.
  private static let limit = 512

  /// Reads the parameters of a function, an inlined call, or an abstract instance. O(entries directly below the
  /// function).
  init(_ function: Dwarf_Die) {
    var function = function.abstractInstance
    var declaration = function.reference(DW_AT_specification)
    // For a function in a type, the function's entry inside the type has the line.
    line = Int(clamping: function.number(DW_AT_decl_line) ?? declaration?.number(DW_AT_decl_line) ?? 0)
    var die = Dwarf_Die()
    guard dwarf_child(&function, &die) == 0 else { return }
    var budget = debugEntryBudget(&function)
    repeat {
      budget -= 1
      guard budget >= 0, parameters.count < Self.limit else { return }
      switch Int(dwarf_tag(&die)) {
      case DW_TAG_formal_parameter:
        var origin = die.abstractInstance
        let type = Self.type(&origin)
        parameters.append(
          DebugParameter(
            name: Self.text(dwarf_diename(&origin)) ?? "", mangledType: type.name, size: type.size,
            isConstant: type.isConstant,
            line: Int(clamping: origin.number(DW_AT_decl_line) ?? 0)))
      case DW_TAG_variable:
        // A variable that holds type metadata is named after the depth and the index of the generic parameter.
        if let name = Self.text(dwarf_diename(&die)), name.hasPrefix("$\u{3C4}_") { isGeneric = true }
      default: break
      }
    } while moveToSibling(&die)
  }

  private static func type(_ die: inout Dwarf_Die) -> (name: String?, size: Int?, isConstant: Bool) {
    var name: String?
    var isConstant = false
    guard var type = die.reference(DW_AT_type) else { return (nil, nil, false) }
    for _ in 0..<Dwarf_Die.chainLimit {
      switch Int(dwarf_tag(&type)) {
      case DW_TAG_const_type: isConstant = true
      case DW_TAG_typedef: if name == nil { name = text(dwarf_diename(&type)) }
      default:
        var attribute = Dwarf_Attribute()
        var value: Dwarf_Word = 0
        var size: Int?
        // For a value of a generic parameter, the recorded size is 0.
        if dwarf_attr(&type, UInt32(DW_AT_byte_size), &attribute) != nil, dwarf_formudata(&attribute, &value) == 0,
          (1..<1 << 20).contains(value)
        {
          size = Int(value)
        }
        return (name ?? typeName(&type), size, isConstant)
      }
      guard let next = type.reference(DW_AT_type) else { break }
      type = next
    }
    return (name, nil, isConstant)
  }

  /// Returns the name of a type. An instance of a generic type has no name. It has a member instead, whose type is the
  /// type that the instance represents.
  private static func typeName(_ type: inout Dwarf_Die) -> String? {
    if let name = linkageName(&type) ?? text(dwarf_diename(&type)) { return name }
    var member = Dwarf_Die()
    guard dwarf_child(&type, &member) == 0, var inner = member.reference(DW_AT_type) else { return nil }
    return linkageName(&inner) ?? text(dwarf_diename(&inner))
  }

  private static func linkageName(_ die: inout Dwarf_Die) -> String? {
    var attribute = Dwarf_Attribute()
    guard dwarf_attr(&die, UInt32(DW_AT_linkage_name), &attribute) != nil else { return nil }
    return text(dwarf_formstring(&attribute))
  }

  private static func text(_ text: UnsafePointer<CChar>?) -> String? {
    guard let text, text.pointee != 0 else { return nil }
    return String(cString: text)
  }
}
