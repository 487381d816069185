// The DWARF of one file: which compilation unit covers an address, and what that unit says about it.

import CElfutils

/// One function that covers an address, as debug information knows it; inlined ones have the position of their call in the next.
struct DebugFrame {
  /// The linkage name where there is one, else the name in the source. `nil` if neither is recorded.
  var name: String?
  /// `name` is what the linker sees, not just the source's short name.
  var isLinkageName: Bool
  var position: SourcePosition?
  var isInlined: Bool
}

/// A place in source code. Line and column are from 1, 0 where the compiler gave none.
struct SourcePosition: Hashable {
  var file: String?
  var line: Int
  var column: Int
}

/// The debug information of an ELF file. Units are read when an address in them is first looked up.
///
/// Not to be shared between threads. Making it is O(units); everything it reads lives as long as it does.
final class DebugInformation {
  private let file: ElfFile
  /// Where code may be: that of the image itself, which a separate debug file may lack.
  private let codeFile: ElfFile
  /// A file with the parts that several debug files share.
  private var supplement: DebugInformation?
  let handle: OpaquePointer
  private var unitDies: [Dwarf_Die] = []
  private var units: [Int: DebugUnit] = [:]
  private var map = AddressMap([])

  /// `nil` if the file has no debug information, or none that can be read. `supplement` finds the file that this one shares some with.
  init?(_ file: ElfFile, codeFile: ElfFile, supplement: (OpaquePointer) -> DebugInformation?) {
    guard let handle = dwarf_begin_elf(file.handle, DWARF_C_READ, nil) else { return nil }
    self.file = file
    self.codeFile = codeFile
    self.handle = handle
    if let shared = supplement(handle) {
      self.supplement = shared
      dwarf_setalt(handle, shared.handle)
    }
    var ranges: [AddressMap.Entry] = []
    var unit: OpaquePointer?
    while true {
      var next: OpaquePointer?
      var die = Dwarf_Die()
      var split = Dwarf_Die()
      guard dwarf_get_units(handle, unit, &next, nil, nil, &die, &split) == 0 else { break }
      unit = next
      let tag = dwarf_tag(&die)
      guard tag == DW_TAG_compile_unit || tag == DW_TAG_skeleton_unit else { continue }
      let number = unitDies.count
      unitDies.append(die)
      forEachRange(of: &die, in: codeFile) { ranges.append(.init(start: $0.lowerBound, end: $0.upperBound, value: number)) }
    }
    map = AddressMap(ranges)
  }

  deinit {
    units = [:]
    dwarf_end(handle)
  }

  /// No unit says what code it covers.
  var isEmpty: Bool { map.isEmpty }

  /// The functions that cover `address`, innermost first, and at least one frame (without a name) if only a line is known.
  /// Empty if nothing is known. O(log n) after the first look-up in a unit and in a function.
  func frames(at address: LinkAddress) -> [DebugFrame] {
    unit(at: address)?.frames(at: address.rawValue) ?? []
  }

  /// The parameters of the function with a linkage name whose code, inlined or not, is in the function that covers `address`.
  /// `nil` if it is not there. O(inlined calls of that function) after the first look-up in the unit.
  func parameters(ofFunction linkageName: String, at address: LinkAddress) -> DebugParameters? {
    unit(at: address)?.parameters(ofFunction: linkageName, at: address.rawValue)
  }

  /// Of the functions of `frames(at:)`, in their order, which are declared as allocators are.
  func allocatorSignatures(at address: LinkAddress) -> [Bool] { unit(at: address)?.allocatorSignatures(at: address.rawValue) ?? [] }

  private func unit(at address: LinkAddress) -> DebugUnit? {
    guard let number = map.value(at: address.rawValue) else { return nil }
    if let known = units[number] { return known }
    let unit = DebugUnit(unitDies[number], codeFile: codeFile)
    units[number] = unit
    return unit
  }
}

/// Calls `body` with each range of link addresses that the debug entry covers, as far as code may be there.
func forEachRange(of die: inout Dwarf_Die, in codeFile: ElfFile, _ body: (Range<UInt64>) -> Void) {
  var base: Dwarf_Addr = 0
  var start: Dwarf_Addr = 0
  var end: Dwarf_Addr = 0
  var offset = 0
  while true {
    offset = dwarf_ranges(&die, offset, &base, &start, &end)
    guard offset > 0 else { return }
    if start < end, codeFile.mayHoldCode(start) { body(start..<end) }
  }
}
