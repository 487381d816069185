// The images of the test process, and what readelf says of their unwind information.

import Foundation
import Testing

struct LoadedImage: Sendable, CustomTestStringConvertible {
  var path: String
  var loadBias: UInt

  var testDescription: String { path.split(separator: "/").last.map(String.init) ?? path }

  static let all: [LoadedImage] = {
    var images: [LoadedImage] = []
    for line in (try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8))?.split(separator: "\n") ?? [] {
      // Range, permissions, offset, device, inode, path. All images here begin with address 0, at their file's beginning.
      let fields = line.split(separator: " ", maxSplits: 5)
      guard fields.count == 6, fields[2].allSatisfy({ $0 == "0" }), let start = UInt(fields[0].split(separator: "-")[0], radix: 16) else { continue }
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
  /// How registers are found while the location counter is in a range. Addresses are those in the file.
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
    let output = try run("/usr/bin/readelf", ["--wide", "--debug-dump=frames-interp", image.path])
    var functions: [DescribedFunction] = []
    var columns: [Substring] = []
    var entry = 0
    var isTaken = false
    func finish() {
      guard isTaken, let last = functions.last else { return }
      if last.rows.isEmpty {
        functions.removeLast()
      } else {
        functions[functions.count - 1].rows[last.rows.count - 1].range = last.rows.last!.range.lowerBound..<last.range.upperBound
      }
    }
    for line in output.split(separator: "\n") {
      if let place = line.range(of: " FDE cie=") {
        finish()
        entry += 1
        let bounds = line[place.upperBound...].split(separator: "=")[1].split(separator: ".")
        let start = UInt(bounds[0], radix: 16)!, end = UInt(bounds[1], radix: 16)!
        isTaken = entry % stride == 0 && start < end && start > 0
        if isTaken { functions.append(DescribedFunction(range: start..<end, rows: [])) }
      } else if line.contains(" CIE ") {
        finish()
        isTaken = false
      } else if isTaken {
        let fields = line.split(separator: " ")
        if fields.first == "LOC" {
          columns = Array(fields)
        } else if fields.count == columns.count, let location = UInt(fields[0], radix: 16) {
          let index = functions.count - 1
          if let previous = functions[index].rows.indices.last {
            functions[index].rows[previous].range = functions[index].rows[previous].range.lowerBound..<location
          }
          let registers = Dictionary(uniqueKeysWithValues: zip(columns, fields).dropFirst(2))
          functions[index].rows.append(Row(range: location..<location, frameAddress: fields[1], registers: registers))
        }
      }
    }
    finish()
    return functions
  }
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
