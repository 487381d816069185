// The outputs in pages for users, each with the comment that names its source.

import Foundation
import Testing

/// A fenced block that shows output, and the comment before it:
///
///     <!-- shown by: SOURCE[, figures vary]
///     SCRIPT
///     -->
///
/// `scripts/check-links` reports output blocks without such a comment, and comments without a block.
struct ShownBlock: Sendable, CustomTestStringConvertible {
  /// The page's path in the repository.
  var page: String
  /// The line of the comment, from 1.
  var line: Int
  /// The program that the script runs: a file of Tests/Programs, a folder and variant there, or an executable of the
  /// corpus. It is the name of a test suite if there is no script.
  var source: String
  var figuresVary: Bool
  /// Lines for a shell. A line after `$ ` is printed before it runs.
  var script: [String]
  var output: [String]

  var testDescription: String { "\(page):\(line)" }

  /// All marked blocks of README.md and of the pages in docs, but not of its folders.
  static let all: [ShownBlock] = {
    let pages = (try? FileManager.default.contentsOfDirectory(atPath: BuildProducts.packageRoot + "/docs")) ?? []
    return (["README.md"] + pages.filter { $0.hasSuffix(".md") }.sorted().map { "docs/\($0)" }).flatMap { page in
      let text = try? String(contentsOfFile: "\(BuildProducts.packageRoot)/\(page)", encoding: .utf8)
      return blocks(of: text ?? "", page: page)
    }
  }()

  static func blocks(of text: String, page: String) -> [ShownBlock] {
    let mark = "<!-- shown by: ", end = "-->"
    let lines = text.components(separatedBy: "\n")
    return lines.indices.filter { lines[$0].hasPrefix(mark) }.compactMap { start in
      guard let last = lines[start...].firstIndex(where: { $0.hasSuffix(end) }),
        let fence = lines[last...].firstIndex(of: "```"), let close = lines[(fence + 1)...].firstIndex(of: "```")
      else { return nil }
      let head = lines[start].dropFirst(mark.count).replacing(end, with: "").trimmingCharacters(in: .whitespaces)
      let words = head.components(separatedBy: ", ")
      return ShownBlock(
        page: page, line: start + 1, source: words[0], figuresVary: words.dropFirst() == ["figures vary"],
        script: start == last ? [] : Array(lines[(start + 1)..<last]), output: Array(lines[(fence + 1)..<close]))
    }
  }
}
