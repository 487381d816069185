// Compares the results of two symbolisers: whole stacks of inlined functions, with files, lines and columns.

import Foundation
import Testing
import TraceReading
@testable import TraceSymbolication

@Suite(.serialized) struct SymbolizerAgreementTests {
  struct Row: Equatable {
    var function: String
    var file: String
    var line: Int
    var column: Int
  }

  /// Returns the share of `addresses` with the same frames from both symbolisers, and the first differences.
  func compare(_ path: String, addresses: [UInt64]) throws -> (agreement: Double, differences: [String]) {
    let input = addresses.map { "0x" + String($0, radix: 16) }.joined(separator: "\n") + "\n"
    let output = try Tool.run("llvm-symbolizer", ["--no-demangle", "--inlines", "--obj=" + path], input: input)
    let expected = output.components(separatedBy: "\n\n").filter { !$0.isEmpty }.map(rows(ofBlock:))
    try #require(expected.count == addresses.count)
    let image = LoadedImage(path: path, buildID: [], loadBias: 0, range: RuntimeAddress(0)..<RuntimeAddress(.max))
    let symbolicator = Symbolicator(images: [image])
    var same = 0
    var differences: [String] = []
    for (address, expected) in zip(addresses, expected) {
      let found = symbolicator.frames(for: .exact(RuntimeAddress(address)), in: image).map(row(of:))
      if found == expected {
        same += 1
      } else {
        differences.append("\(String(address, radix: 16)): \(found), not \(expected)")
      }
    }
    return (Double(same) / Double(addresses.count), Array(differences.prefix(5)))
  }

  func rows(ofBlock block: String) -> [Row] {
    let lines = block.split(separator: "\n")
    return stride(from: 0, to: lines.count - 1, by: 2).map { index in
      var place = lines[index + 1].split(separator: ":")
      let column = Int(place.removeLast()) ?? -1
      let line = Int(place.removeLast()) ?? -1
      let file = place.joined(separator: ":")
      return normalised(Row(function: String(lines[index]), file: file, line: line, column: column))
    }
  }

  func row(of frame: SourceFrame) -> Row {
    normalised(
      Row(
        function: frame.mangledName ?? "??", file: frame.file ?? "??", line: frame.line ?? 0, column: frame.column ?? 0)
    )
  }

  /// Removes intended differences between the two symbolisers.
  func normalised(_ row: Row) -> Row {
    var row = row
    // Without debug information, llvm-symbolizer returns the object file's name from the symbol table. Such names and
    // placeholders are not source files.
    if !row.file.contains("/") || row.file.hasSuffix("<compiler-generated>") || row.file.hasSuffix("<stdin>") {
      row.file = "??"
    }
    if row.line == 0 { row.column = 0 }
    // Padding between functions has rows in the line table, but belongs to no function.
    if row.function == "??" { return Row(function: "??", file: "??", line: 0, column: 0) }
    return row
  }

  func every(_ step: UInt64, of text: Range<UInt64>) -> [UInt64] {
    Array(stride(from: text.lowerBound, to: text.upperBound, by: Int(step)))
  }

  @Test func everyAddressOfADebugBuildAgrees() throws {
    let program = try SharedProgram.swiftDebug.get()
    let result = try compare(program.path, addresses: every(1, of: program.text()))
    #expect(result.agreement == 1, "\(result)")
  }

  @Test func everyAddressOfAnOptimisedBuildAgrees() throws {
    let program = try SharedProgram.swiftOptimised.get()
    let result = try compare(program.path, addresses: every(1, of: program.text()))
    #expect(result.agreement == 1, "\(result)")
  }

  @Test func every64thAddressOfAStaticBuildAgrees() throws {
    // If several symbols name one function, the two symbolisers may choose different ones.
    let program = try SharedProgram.swiftStaticLibraries.get()
    let result = try compare(program.path, addresses: every(64, of: program.text()))
    #expect(result.agreement > 0.98, "\(result)")
  }

  @Test(arguments: ["-gdwarf-4", "-gdwarf-5"]) func everyAddressOfCCodeAgreesInBothDWARFVersions(_ version: String)
    throws
  {
    let program = try ProgramFixture("clang", ["-O2", "-g", version], source: Programs.c, fileName: "sample.c")
    let result = try compare(program.path, addresses: every(1, of: program.text()))
    #expect(result.agreement == 1, "\(result)")
  }

  @Test func discardedFunctionsDoNotHideKeptOnes() throws {
    let program = try ProgramFixture(
      "clang", ["-O2", "-g", "-ffunction-sections", "-Wl,--gc-sections"], source: Programs.c, fileName: "sample.c")
    #expect(program.functions["never_called"] == nil)
    let result = try compare(program.path, addresses: every(1, of: program.text()))
    #expect(result.agreement == 1, "\(result)")
  }

  @Test func largeToolchainProgramAgrees() throws {
    let path = try Tool.find("swift-format")
    let text = try ProgramFixture.text(of: path)
    let result = try compare(path, addresses: every(UInt64(text.count) / 5000, of: text))
    #expect(result.agreement > 0.999, "\(result)")
  }
}
