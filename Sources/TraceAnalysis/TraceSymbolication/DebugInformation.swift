// The DWARF of one file. Finds the compilation unit that covers an address, and reads that unit.

import CElfutils
import TraceReading

/// A function that covers an address, from debug information. If the function was inlined, the next frame has the
/// position of the call.
struct DebugFrame {
  /// The linkage name if there is one, else the name in the source. `nil` if neither is recorded.
  var name: String?
  /// True if `name` is the linkage name, not the short name in the source.
  var isLinkageName: Bool
  var position: SourcePosition?
  var isInlined: Bool
}

/// A place in source code. Lines and columns count from 1; 0 means unknown.
struct SourcePosition: Hashable {
  var file: String?
  var line: Int
  var column: Int
}

/// The debug information of an ELF file. Units are read when an address in them is first looked up.
///
/// For one thread at a time. The initialiser is O(units). The memory of units is freed only with this object.
final class DebugInformation {
  private let file: ElfFile
  /// The image's own file, which has the code. A separate debug file may lack the code.
  private let codeFile: ElfFile
  /// A file with the parts that several debug files share.
  private var supplement: DebugInformation?
  let handle: OpaquePointer
  private var unitDies: [Dwarf_Die] = []
  private var units: [Int: DebugUnit] = [:]
  private var map = AddressMap([])

  /// `nil` if the file has no debug information, or none that can be read. `supplement` opens the file with the parts
  /// that this file shares with others.
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
      // For the split unit, the library would open another file, such as the Clang module that a Swift unit names. A
      // program with many imports has thousands of them, and nothing here reads them.
      guard dwarf_get_units(handle, unit, &next, nil, nil, &die, nil) == 0 else { break }
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

  /// True if no unit has ranges of addresses.
  var isEmpty: Bool { map.isEmpty }

  /// Returns the functions that cover `address`, innermost first. If only a line is known, returns one frame without a
  /// name. Empty if nothing is known. O(log n) after the first look-up in a unit and in a function.
  func frames(at address: LinkAddress) -> [DebugFrame] {
    unit(at: address)?.frames(at: address.rawValue) ?? []
  }

  /// Returns the parameters of the function with a linkage name. The function must cover `address`, or be inlined into
  /// the function that covers it; otherwise `nil`. O(inlined calls of the covering function) after the first look-up in
  /// the unit.
  func parameters(ofFunction linkageName: String, at address: LinkAddress) -> DebugParameters? {
    unit(at: address)?.parameters(ofFunction: linkageName, at: address.rawValue)
  }

  /// Returns whether each function is declared like an allocator, in the order of `frames(at:)`.
  func allocatorSignatures(at address: LinkAddress) -> [Bool] {
    unit(at: address)?.allocatorSignatures(at: address.rawValue) ?? []
  }

  /// One source file of each Swift module with functions in this file, by module. O(units), since each unit has only a
  /// few modules.
  private(set) lazy var moduleFiles: [String: String] = {
    var files: [String: String] = [:]
    for index in unitDies.indices { readModules(ofUnit: &unitDies[index], into: &files) }
    return files
  }()

  private func readModules(ofUnit unit: inout Dwarf_Die, into files: inout [String: String]) {
    var left = (functions: Self.functionsOfUnit, entries: min(Self.entriesOfUnit, debugEntryBudget(&unit)))
    readModules(below: &unit, depth: 0, &left, into: &files)
  }

  /// Reads the modules of functions below an entry. Functions are nested in modules and types.
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

  /// Maximum number of functions per unit that are read to find modules. A unit has functions of one module, and copies
  /// of generic functions from other modules.
  private static let functionsOfUnit = 16
  /// Maximum number of entries that are read per unit. Types precede functions, and there may be many types.
  private static let entriesOfUnit = 1 << 16
  /// The deepest nesting of types and modules that is read.
  private static let moduleDepth = 8

  private func unit(at address: LinkAddress) -> DebugUnit? {
    guard let number = map.value(at: address.rawValue) else { return nil }
    if let known = units[number] { return known }
    let unit = DebugUnit(unitDies[number], codeFile: codeFile)
    units[number] = unit
    return unit
  }
}

/// Calls `body` with each range of link addresses that the debug entry covers, except ranges where the file cannot have
/// code.
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
