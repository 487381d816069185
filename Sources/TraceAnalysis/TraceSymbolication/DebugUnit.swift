// One compilation unit of debug information: its functions by address, their inlined calls, and its line table.

import CElfutils

/// The debug information of one unit. The initialiser finds the functions. Inlined calls and the line table are read on
/// first use.
///
/// The initialiser is O(debug entries of the unit).
final class DebugUnit {
  /// The deepest nesting that is read, so that a damaged file cannot exhaust the stack. No compiler nests entries so
  /// deep.
  private static let depthLimit = 200

  private var unitDie: Dwarf_Die
  private let codeFile: ElfFile
  private var functions: [DebugFunction] = []
  private var functionMap = AddressMap([])
  private lazy var lines = LineTable(&unitDie)
  private lazy var files = SourceFileTable(&unitDie)

  init(_ unitDie: Dwarf_Die, codeFile: ElfFile) {
    self.unitDie = unitDie
    self.codeFile = codeFile
    var entries: [AddressMap.Entry] = []
    // An entry takes at least one byte. Stop after as many entries as the unit has bytes: sibling links of a damaged
    // file can make the tree larger, or endless.
    var budget = debugEntryBudget(&self.unitDie)
    collectFunctions(below: &self.unitDie, depth: 0, budget: &budget, into: &entries)
    functionMap = AddressMap(entries)
  }

  private func collectFunctions(
    below parent: inout Dwarf_Die, depth: Int, budget: inout Int, into entries: inout [AddressMap.Entry]
  ) {
    guard depth < Self.depthLimit else { return }
    var die = Dwarf_Die()
    guard dwarf_child(&parent, &die) == 0 else { return }
    repeat {
      budget -= 1
      if budget < 0 { return }
      if dwarf_tag(&die) == DW_TAG_subprogram {
        let number = functions.count
        var covers = false
        forEachRange(of: &die, in: codeFile) {
          entries.append(.init(start: $0.lowerBound, end: $0.upperBound, value: number))
          covers = true
        }
        if covers { functions.append(DebugFunction(die)) }
      }
      if dwarf_haschildren(&die) > 0 {
        collectFunctions(below: &die, depth: depth + 1, budget: &budget, into: &entries)
      }
    } while moveToSibling(&die)
  }

  /// See `DebugInformation.parameters(ofFunction:at:)`.
  func parameters(ofFunction linkageName: String, at address: UInt64) -> DebugParameters? {
    functionMap.value(at: address).flatMap { functions[$0].parameters(ofFunction: linkageName, codeFile) }
  }

  /// See `DebugInformation.allocatorSignatures(at:)`.
  func allocatorSignatures(at address: UInt64) -> [Bool] {
    guard let number = functionMap.value(at: address) else { return [] }
    return functions[number].allocatorSignatures(at: address, codeFile)
  }

  /// See `DebugInformation.frames(at:)`.
  func frames(at address: UInt64) -> [DebugFrame] {
    var position = lines.position(at: address)
    guard let number = functionMap.value(at: address) else {
      guard let position else { return [] }
      return [DebugFrame(name: nil, isLinkageName: false, position: position, isInlined: false)]
    }
    let function = functions[number]
    var result: [DebugFrame] = []
    function.readInlinedCalls(codeFile)
    var call = function.innermostCall(at: address)
    while let index = call {
      let inlined = function.inlinedCalls[index]
      let name = function.name(ofCall: index)
      result.append(DebugFrame(name: name.text, isLinkageName: name.isLinkageName, position: position, isInlined: true))
      position = SourcePosition(file: files.path(inlined.callFile), line: inlined.callLine, column: inlined.callColumn)
      call = inlined.parent
    }
    let name = function.name()
    result.append(DebugFrame(name: name.text, isLinkageName: name.isLinkageName, position: position, isInlined: false))
    return result
  }
}

/// Returns the maximum number of debug entries in the unit of `die`: the number of the unit's bytes.
func debugEntryBudget(_ die: inout Dwarf_Die) -> Int {
  // The size of a unit is the distance between its own entry and the next unit's header.
  var nextOffset: Dwarf_Off = 0
  var headerSize = 0
  let start = dwarf_dieoffset(&die)
  let header = start &- Dwarf_Off(dwarf_cuoffset(&die))
  guard let cu = die.cu, let dwarf = dwarf_cu_getdwarf(cu) else { return 1 << 20 }
  guard dwarf_nextcu(dwarf, header, &nextOffset, &headerSize, nil, nil, nil) == 0, nextOffset > start else {
    return 1 << 20
  }
  return Int(clamping: nextOffset - start)
}

/// Moves `die` to the next entry of the same parent. Returns `false` after the last entry, or if the data is damaged.
func moveToSibling(_ die: inout Dwarf_Die) -> Bool {
  var next = Dwarf_Die()
  guard dwarf_siblingof(&die, &next) == 0 else { return false }
  die = next
  return true
}
