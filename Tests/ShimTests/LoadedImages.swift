// The images of the test process, and readelf's output about their unwind information.

import Foundation
import Testing

struct LoadedImage: Sendable, CustomTestStringConvertible {
  var path: String
  var loadBias: UInt

  var testDescription: String { path.split(separator: "/").last.map(String.init) ?? path }

  static let all: [LoadedImage] = {
    var images: [LoadedImage] = []
    // Read to its end: such a file does not say how long it is.
    let maps = FileHandle(forReadingAtPath: "/proc/self/maps").flatMap { try? $0.readToEnd() } ?? Data()
    for line in String(decoding: maps, as: UTF8.self).split(separator: "\n") {
      // Range, permissions, offset, device, inode, path. All images here begin with address 0, at their file's
      // beginning.
      let fields = line.split(separator: " ", maxSplits: 5)
      guard fields.count == 6, fields[2].allSatisfy({ $0 == "0" }),
        let start = UInt(fields[0].split(separator: "-")[0], radix: 16)
      else { continue }
      images.append(LoadedImage(path: fields[5].trimmingCharacters(in: .whitespaces), loadBias: start))
    }
    return images
  }()

  static func named(_ names: String...) -> [LoadedImage] {
    all.filter { image in names.contains { image.path.split(separator: "/").last?.hasPrefix($0) == true } }
  }

  /// That of the tests themselves.
  static let tests = all.filter { $0.path.hasSuffix(".xctest") }
}

/// A function with unwind information, as `readelf --debug-dump=frames-interp` shows it.
struct DescribedFunction {
  /// The rules to find registers while the location counter is in a range. Addresses are as in the file.
  struct Row {
    var range: Range<UInt>
    var frameAddress: Substring
    /// By column name: `rbp`, `r14`, `ra` …
    var registers: [Substring: Substring]
  }

  var range: Range<UInt>
  var rows: [Row]

  /// Each `stride`-th of the image's functions.
  static func all(of image: LoadedImage, stride: Int) throws -> [DescribedFunction] {
    // readelf prints much. awk keeps the requested entries and their rows; it names a register "r1 (rdx)" by its name
    // alone. Rows of .debug_frame are for debuggers: a program does not have them in its memory.
    let filter = """
      /^Contents of/ { isLoaded = !/ \\.debug_frame / }
      !isLoaded { next }
      / FDE cie=/ { n++; taken = n % \(stride) == 0; if (taken) { sub(/.*pc=/, "pc "); sub(/\\.\\./, " "); print } next }
      / CIE| ZERO/ { taken = 0; next }
      taken && NF > 1 { while (match($0, /r[0-9]+ \\([a-z0-9]+\\)/)) { t = substr($0, RSTART, RLENGTH); u = t; sub(/.*\\(/, "", u); sub(/\\)/, "", u);
        $0 = substr($0, 1, RSTART - 1) u substr($0, RSTART + RLENGTH) } print }
      """
    let output = try run(
      "/bin/sh", ["-c", "readelf --wide --debug-dump=frames-interp \"$0\" | awk \"$1\"", image.path, filter])
    var functions: [DescribedFunction] = []
    var columns: [Substring] = []
    for line in output.split(separator: "\n") {
      let fields = line.split(separator: " ")
      if fields[0] == "pc" {
        let start = UInt(fields[1], radix: 16)!, end = UInt(fields[2], radix: 16)!
        functions.append(DescribedFunction(range: start..<max(start, end), rows: []))
      } else if fields[0] == "LOC" {
        columns = fields
      } else if fields.count == columns.count, let location = UInt(fields[0], radix: 16) {
        let index = functions.count - 1, end = functions[index].range.upperBound
        if let last = functions[index].rows.indices.last {
          functions[index].rows[last].range = functions[index].rows[last].range.lowerBound..<location
        }
        let registers = Dictionary(uniqueKeysWithValues: zip(columns, fields).dropFirst(2))
        functions[index].rows.append(
          Row(range: location..<max(location, end), frameAddress: fields[1], registers: registers))
      } else {
        throw UnexpectedOutput(line: String(line))
      }
    }
    return functions.filter { $0.range.lowerBound > 0 && !$0.range.isEmpty && !$0.rows.isEmpty }
  }

  struct UnexpectedOutput: Error { var line: String }
}

/// What a program wrote on standard output.
func run(_ program: String, _ arguments: [String]) throws -> String {
  let process = Process(), pipe = Pipe()
  process.executableURL = URL(fileURLWithPath: program)
  process.arguments = arguments
  process.standardOutput = pipe
  process.standardError = FileHandle.nullDevice
  try process.run()
  let output = pipe.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  return String(decoding: output, as: UTF8.self)
}
