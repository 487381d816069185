// Source lines around the places of findings, if the source files are available.

import LeakDetection
import TextWriting
import TraceReading
import TraceReports

/// A few lines of a file.
struct SourceExcerpt {
  var file: String
  /// The line number of the place, starting at 1.
  var line: Int
  /// The line number of the first of `lines`.
  var first: Int
  var lines: [String]
}

/// Reads excerpts. For one thread at a time.
struct SourceExcerpts {
  /// The number of lines to show before the place, and after it.
  private static let margin = 3
  /// Maximum length of a line, in characters.
  private static let lineLimit = 300
  /// Maximum number of excerpts on a page.
  private static let limit = 200
  /// Maximum size of a file, in bytes.
  private static let largestFile = 4 << 20

  private var files: [String: [Substring]?] = [:]
  private var known: Set<String> = []
  private(set) var all: [SourceExcerpt] = []

  init() {}

  /// Adds the places that a finding names in the program's own code.
  mutating func add(_ finding: Finding) {
    for step in finding.path {
      if step.library == nil {
        add(step.place?.file, step.place?.line)
        add(step.function?.file, step.function?.line)
      }
      if let closure = step.reference?.closure { add(closure.file, closure.line) }
    }
    for place in finding.places { add(place.place?.file, place.place?.line) }
  }

  private mutating func add(_ file: String?, _ line: Int?) {
    guard let file, let line, line > 0, all.count < Self.limit, known.insert("\(file):\(line)").inserted,
      let lines = lines(of: file), line <= lines.count
    else { return }
    let range = max(1, line - Self.margin)...min(lines.count, line + Self.margin)
    all.append(
      SourceExcerpt(
        file: PlainText.escaped(file), line: line, first: range.lowerBound,
        lines: range.map {
          PlainText.escaped(String(lines[$0 - 1].prefix(Self.lineLimit)).replacing("\t", with: "    "))
        }))
  }

  private mutating func lines(of file: String) -> [Substring]? {
    if let known = files[file] { return known }
    let lines = LocalSources().text(ofFile: file, limit: Self.largestFile).map {
      $0.split(separator: "\n", omittingEmptySubsequences: false)
    }
    files[file] = lines
    return lines
  }
}
