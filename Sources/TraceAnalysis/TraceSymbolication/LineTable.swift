// The line table of one compilation unit: the source position of each address, and the unit's list of files.

import CElfutils
import TraceReading

/// The rows of a line table, sorted by address. A row is valid up to the next row.
struct LineTable {
  private var lines: OpaquePointer?
  private var count = 0
  private let compilationDirectory: String?

  /// Decodes the unit's line program. O(rows). Empty if the unit has no line program, or a damaged one.
  init(_ unit: inout Dwarf_Die) {
    compilationDirectory = directoryOfCompilation(&unit)
    var lines: OpaquePointer?
    var count = 0
    guard dwarf_getsrclines(&unit, &lines, &count) == 0 else { return }
    self.lines = lines
    self.count = count
  }

  /// Returns the source position of the code at `address`. If several rows have the same address, the last counts,
  /// since the others cover no code. O(log n).
  func position(at address: UInt64) -> SourcePosition? {
    guard let lines else { return nil }
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      var rowAddress: Dwarf_Addr = 0
      guard let row = dwarf_onesrcline(lines, middle), dwarf_lineaddr(row, &rowAddress) == 0 else { return nil }
      if rowAddress <= address { low = middle + 1 } else { high = middle }
    }
    guard low > 0, let row = dwarf_onesrcline(lines, low - 1) else { return nil }
    var endsSequence = false
    guard dwarf_lineendsequence(row, &endsSequence) == 0, !endsSequence else { return nil }
    var line: Int32 = 0
    var column: Int32 = 0
    _ = dwarf_lineno(row, &line)
    _ = dwarf_linecol(row, &column)
    let file = dwarf_linesrc(row, nil, nil).flatMap { sourcePath($0, in: compilationDirectory) }
    return SourcePosition(file: file, line: max(0, Int(line)), column: max(0, Int(column)))
  }
}

/// The source files of a unit, by the file numbers in the unit's attributes.
struct SourceFileTable {
  private var files: OpaquePointer?
  private var count = 0
  private let compilationDirectory: String?

  init(_ unit: inout Dwarf_Die) {
    compilationDirectory = directoryOfCompilation(&unit)
    var files: OpaquePointer?
    var count = 0
    guard dwarf_getsrcfiles(&unit, &files, &count) == 0 else { return }
    self.files = files
    self.count = count
  }

  /// Returns the path of file `index`; `nil` if there is no such file.
  func path(_ index: Int) -> String? {
    guard let files, index >= 0, index < count, let path = dwarf_filesrc(files, index, nil, nil) else { return nil }
    return sourcePath(path, in: compilationDirectory)
  }
}

/// Returns the absolute path of a source file; `nil` for placeholders of code without a source.
private func sourcePath(_ path: UnsafePointer<CChar>, in directory: String?) -> String? {
  let text = String(cString: path)
  if text.isEmpty || text == "???" || text.hasSuffix("<compiler-generated>") || text.hasSuffix("<stdin>") { return nil }
  guard !text.hasPrefix("/"), let directory, !directory.isEmpty else { return text }
  return directory + "/" + text
}

private func directoryOfCompilation(_ unit: inout Dwarf_Die) -> String? {
  var attribute = Dwarf_Attribute()
  guard dwarf_attr(&unit, UInt32(DW_AT_comp_dir), &attribute) != nil, let text = dwarf_formstring(&attribute) else {
    return nil
  }
  return String(cString: text)
}
