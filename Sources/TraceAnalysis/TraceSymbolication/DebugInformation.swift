// The DWARF of one file: it finds the compilation unit that covers an address, and reads that unit.

import CElfutils
import TraceReading

/// One function that covers an address, from debug information. A function that was inlined has its call's position in
/// the next frame.
struct DebugFrame {
  /// The linkage name if there is one, else the name in the source. `nil` if neither is recorded.
  var name: String?
  /// `name` is the linker's name, not just the source's short name.
  var isLinkageName: Bool
  var position: SourcePosition?
  var isInlined: Bool
}

/// A place in source code. Line and column are from 1; 0 if the compiler gave none.
struct SourcePosition: Hashable {
  var file: String?
  var line: Int
  var column: Int
}

/// The debug information of an ELF file. Units are read when an address in them is first looked up.
///
/// Not to be shared between threads. The initialiser is O(units); everything that it reads lives as long as the object.
final class DebugInformation {
  private let file: ElfFile
  /// The file with the code: the image's own file. A separate debug file may lack the code.
  private let codeFile: ElfFile
  /// A file with the parts that several debug files share.
  private var supplement: DebugInformation?
  let handle: OpaquePointer
  private var unitDies: [Dwarf_Die] = []
  private var units: [Int: DebugUnit] = [:]
  private var map = AddressMap([])

  /// `nil` if the file has no debug information, or none that can be read. `supplement` finds the file with the parts
  /// that this one shares.
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
      forEachRange(of: &die, in: codeFile) {
        ranges.append(.init(start: $0.lowerBound, end: $0.upperBound, value: number))
      }
    }
    map = AddressMap(ranges)
  }

  deinit {
    units = [:]
    dwarf_end(handle)
  }

  /// True if no unit gives the code that it covers.
  var isEmpty: Bool { map.isEmpty }

  /// The functions that cover `address`, innermost first, and at least one frame (without a name) if only a line is
  /// known.
  /// Empty if nothing is known. O(log n) after the first look-up in a unit and in a function.
  func frames(at address: LinkAddress) -> [DebugFrame] {
    unit(at: address)?.frames(at: address.rawValue) ?? []
  }

  /// The parameters of the function with a linkage name whose code, inlined or not, is in the function that covers
  /// `address`.
  /// `nil` if it is not there. O(inlined calls of that function) after the first look-up in the unit.
  func parameters(ofFunction linkageName: String, at address: LinkAddress) -> DebugParameters? {
    unit(at: address)?.parameters(ofFunction: linkageName, at: address.rawValue)
  }

  /// Returns for each function of `frames(at:)`, in their order, whether it is declared like an allocator.
  func allocatorSignatures(at address: LinkAddress) -> [Bool] {
    unit(at: address)?.allocatorSignatures(at: address.rawValue) ?? []
  }

  /// A source file of each Swift module that has functions here. O(units): each unit has a few modules.
  private(set) lazy var moduleFiles: [String: String] = {
    var files: [String: String] = [:]
    for index in unitDies.indices { readModules(ofUnit: &unitDies[index], into: &files) }
    return files
  }()

  private func readModules(ofUnit unit: inout Dwarf_Die, into files: inout [String: String]) {
    var left = (functions: Self.functionsOfUnit, entries: min(Self.entriesOfUnit, debugEntryBudget(&unit)))
    readModules(below: &unit, depth: 0, &left, into: &files)
  }

  /// Functions are below their modules and types in the tree.
  private func readModules(
    below parent: inout Dwarf_Die, depth: Int, _ left: inout (functions: Int, entries: Int),
    into files: inout [String: String]
  ) {
    var die = Dwarf_Die()
    guard depth < Self.moduleDepth, dwarf_child(&parent, &die) == 0 else { return }
    repeat {
      left.entries -= 1
      guard left.functions > 0, left.entries > 0 else { return }
      switch Int(dwarf_tag(&die)) {
      case DW_TAG_subprogram: readModule(of: &die, &left.functions, into: &files)
      case DW_TAG_module, DW_TAG_structure_type, DW_TAG_class_type:
        readModules(below: &die, depth: depth + 1, &left, into: &files)
      default: break
      }
    } while moveToSibling(&die)
  }

  private func readModule(of function: inout Dwarf_Die, _ left: inout Int, into files: inout [String: String]) {
    guard let name = linkageName(&function), let module = PackageCode.module(ofMangled: name).map(String.init),
      !SystemCode.isSystemModule(module)
    else { return }
    guard let path = dwarf_decl_file(&function).map({ String(cString: $0) }), path.hasPrefix("/") else { return }
    left -= 1
    if files[module] == nil { files[module] = path }
  }

  private func linkageName(_ die: inout Dwarf_Die) -> String? {
    var attribute = Dwarf_Attribute()
    guard dwarf_attr(&die, UInt32(DW_AT_linkage_name), &attribute) != nil, let text = dwarf_formstring(&attribute)
    else { return nil }
    return String(cString: text)
  }

  /// A unit has one module's functions, and copies of other modules' generic ones.
  private static let functionsOfUnit = 16
  /// Types come before functions, and may be many.
  private static let entriesOfUnit = 1 << 16
  /// Types within types within modules.
  private static let moduleDepth = 8

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
