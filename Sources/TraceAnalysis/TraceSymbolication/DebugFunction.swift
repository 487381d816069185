// One function of a compilation unit, and the calls that the compiler inlined into it.

import CElfutils

/// A function that has code in the file.
final class DebugFunction {
  /// A call that the compiler replaced by the code of the called function.
  struct InlinedCall {
    var die: Dwarf_Die
    /// The index of the inlined call that contains this call; `nil` if the function itself contains it.
    var parent: Int?
    var callFile: Int
    var callLine: Int
    var callColumn: Int
    var name: Name?
  }

  struct Name {
    var text: String?
    var isLinkageName: Bool
  }

  private static let depthLimit = 200

  private var die: Dwarf_Die
  private var ownName: Name?
  private(set) var inlinedCalls: [InlinedCall] = []
  private var map: AddressMap?

  init(_ die: Dwarf_Die) { self.die = die }

  func name() -> Name {
    if let ownName { return ownName }
    let name = Self.readName(&die)
    ownName = name
    return name
  }

  func name(ofCall index: Int) -> Name {
    if let name = inlinedCalls[index].name { return name }
    let name = Self.readName(&inlinedCalls[index].die)
    inlinedCalls[index].name = name
    return name
  }

  /// Returns the parameters of the function with the linkage name: this function, or a function inlined into it. `nil`
  /// if neither has that name.
  func parameters(ofFunction linkageName: String, _ codeFile: ElfFile) -> DebugParameters? {
    func matches(_ name: Name) -> Bool { name.isLinkageName && name.text == linkageName }
    if matches(name()) { return DebugParameters(die) }
    readInlinedCalls(codeFile)
    for index in inlinedCalls.indices where matches(name(ofCall: index)) {
      return DebugParameters(inlinedCalls[index].die)
    }
    return nil
  }

  /// Returns whether each function at an address is declared like an allocator. The functions inlined at the address
  /// come first, from the innermost. This function comes last.
  func allocatorSignatures(at address: UInt64, _ codeFile: ElfFile) -> [Bool] {
    readInlinedCalls(codeFile)
    var result: [Bool] = []
    var call = innermostCall(at: address)
    while let index = call {
      result.append(AllocatorSignature.isDeclared(by: inlinedCalls[index].die))
      call = inlinedCalls[index].parent
    }
    return result + [AllocatorSignature.isDeclared(by: die)]
  }

  /// Returns the innermost inlined call whose code includes `address`. Call `readInlinedCalls` before.
  func innermostCall(at address: UInt64) -> Int? { map?.value(at: address) }

  /// Reads the tree of inlined calls, unless that was done before. O(entries below the function).
  func readInlinedCalls(_ codeFile: ElfFile) {
    if map != nil { return }
    var entries: [AddressMap.Entry] = []
    var budget = debugEntryBudget(&die)
    collectCalls(below: &die, parent: nil, depth: 0, codeFile, budget: &budget, into: &entries)
    map = AddressMap(entries)
  }

  private func collectCalls(
    below parent: inout Dwarf_Die, parent parentCall: Int?, depth: Int, _ codeFile: ElfFile, budget: inout Int,
    into entries: inout [AddressMap.Entry]
  ) {
    guard depth < Self.depthLimit else { return }
    var die = Dwarf_Die()
    guard dwarf_child(&parent, &die) == 0 else { return }
    repeat {
      budget -= 1
      if budget < 0 { return }
      switch Int(dwarf_tag(&die)) {
      case DW_TAG_inlined_subroutine:
        let index = inlinedCalls.count
        inlinedCalls.append(
          InlinedCall(
            die: die, parent: parentCall, callFile: Self.number(&die, DW_AT_call_file) ?? -1,
            callLine: Self.number(&die, DW_AT_call_line) ?? 0, callColumn: Self.number(&die, DW_AT_call_column) ?? 0,
            name: nil))
        forEachRange(of: &die, in: codeFile) {
          entries.append(.init(start: $0.lowerBound, end: $0.upperBound, value: index))
        }
        collectCalls(below: &die, parent: index, depth: depth + 1, codeFile, budget: &budget, into: &entries)
      case DW_TAG_lexical_block, DW_TAG_try_block, DW_TAG_catch_block, DW_TAG_with_stmt:
        collectCalls(below: &die, parent: parentCall, depth: depth + 1, codeFile, budget: &budget, into: &entries)
      default:
        break
      }
    } while moveToSibling(&die)
  }

  private static func number(_ die: inout Dwarf_Die, _ name: Int) -> Int? {
    var attribute = Dwarf_Attribute()
    var value: Dwarf_Word = 0
    guard dwarf_attr(&die, UInt32(name), &attribute) != nil, dwarf_formudata(&attribute, &value) == 0 else {
      return nil
    }
    return Int(clamping: value)
  }

  private static func readName(_ die: inout Dwarf_Die) -> Name {
    for attributeName in [DW_AT_linkage_name, DW_AT_MIPS_linkage_name] {
      var attribute = Dwarf_Attribute()
      if dwarf_attr_integrate(&die, UInt32(attributeName), &attribute) != nil, let text = dwarf_formstring(&attribute),
        text.pointee != 0
      {
        return Name(text: String(cString: text), isLinkageName: true)
      }
    }
    if let text = dwarf_diename(&die), text.pointee != 0 {
      return Name(text: String(cString: text), isLinkageName: false)
    }
    return Name(text: nil, isLinkageName: false)
  }
}
