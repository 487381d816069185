// The images of the test process, and readelf's output about their unwind information.

import Foundation
import Testing

struct LoadedImage: Sendable, CustomTestStringConvertible {
  var path: String
  var loadBias: UInt

  var testDescription: String { path.split(separator: "/").last.map(String.init) ?? path }

  static let all: [LoadedImage] = {
    var images: [LoadedImage] = []
    // The file is read to its end, because files in /proc do not report their length.
    let maps = FileHandle(forReadingAtPath: "/proc/self/maps").flatMap { try? $0.readToEnd() } ?? Data()
    for line in String(decoding: maps, as: UTF8.self).split(separator: "\n") {
      // The fields are range, permissions, offset, device, inode and path. All images here have link address 0 at the
      // start of their file.
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

  /// The image of the tests themselves.
  static let tests = all.filter { $0.path.hasSuffix(".xctest") }
}

/// A function with unwind information, parsed from `readelf --debug-dump=frames-interp`.
struct DescribedFunction {
  /// The rules for finding registers while the instruction pointer is in a range. Addresses are those in the file.
  struct Row {
    var range: Range<UInt>
    var frameAddress: Substring
    /// By column name: `rbp`, `r14`, `ra` …
    var registers: [Substring: Substring]
  }

  var range: Range<UInt>
  var rows: [Row]

  /// Returns every `stride`-th function of the image.
  static func all(of image: LoadedImage, stride: Int) throws -> [DescribedFunction] {
    // readelf prints much, so awk selects the requested entries and their rows. It replaces "r1 (rdx)" by the
    // register's name. Rows of .debug_frame are skipped: they are for debuggers, and are not in a program's memory.
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

/// Runs a program, and returns its standard output.
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
