// Suppressions: findings that the user does not want reported, in the syntax of LeakSanitizer's suppression files.

import TextWriting
import TraceReading

/// Patterns of known findings, and the number of findings that each pattern has hidden.
///
/// A file has one pattern on each line, `leak:PATTERN`. Blank lines, lines that begin with `#`, and white space around
/// a line are ignored. Lines may end with CR LF.
///
///     # Held for ever by design.
///     leak:^MyApp.ImageCache
///     leak:libcrypto.so
///
/// Each copy of this value counts separately.
package struct Suppressions: Sendable {
  /// A pattern, its place in a file, and the findings that it has hidden.
  package struct Entry: Hashable, Sendable {
    package let pattern: SuppressionPattern
    package let file: String
    /// The line's number, from 1.
    package let line: Int
    package internal(set) var findings: UInt64 = 0
    /// The number of objects of these findings, and their bytes.
    package internal(set) var objects: UInt64 = 0
    package internal(set) var bytes: UInt64 = 0
  }

  /// All patterns, in the order of the files and their lines.
  package private(set) var entries: [Entry] = []

  /// Has no pattern, so it hides nothing.
  package init() {}

  /// Reads the text of a suppression file. `file`: its name in errors and entries.
  package init(parsing text: String, file: String) throws(SuppressionSyntaxError) {
    // Split bytes, because CR LF is a single Character.
    let bytes = Array(text.utf8)
    var rest = bytes[...]
    // Some editors begin a file with a byte order mark.
    if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
    for (index, line) in rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
      let content = Self.trim(line)
      if content.isEmpty || content.first == UInt8(ascii: "#") { continue }
      func failure(_ reason: SuppressionSyntaxError.Reason) -> SuppressionSyntaxError {
        SuppressionSyntaxError(file: file, line: index + 1, reason: reason)
      }
      guard let colon = content.firstIndex(of: UInt8(ascii: ":")) else {
        throw failure(.missingKind(line: String(decoding: content, as: UTF8.self)))
      }
      let kind = String(decoding: content[..<colon], as: UTF8.self)
      if kind != "leak" { throw failure(.unknownKind(kind)) }
      let pattern = content[(colon + 1)...]
      if pattern.allSatisfy({ $0 == UInt8(ascii: "^") || $0 == UInt8(ascii: "$") }) { throw failure(.emptyPattern) }
      entries.append(
        Entry(pattern: SuppressionPattern(String(decoding: pattern, as: UTF8.self)), file: file, line: index + 1))
    }
  }

  private static func trim(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let isBlank = { (byte: UInt8) in
      byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
    }
    var trimmed = line.drop(while: isBlank)
    while let last = trimmed.last, isBlank(last) { trimmed.removeLast() }
    return trimmed
  }

  /// Adds the patterns of another file after the present ones.
  package mutating func append(contentsOf other: Suppressions) { entries += other.entries }

  /// Returns the index in `entries` of the first pattern that matches a name of a finding; nil if none matches. Adds
  /// the finding to this pattern's counts, with its total `objects` and `bytes`. `names`: the finding's type, and the
  /// functions, modules and source files of its stack and retain path. O(patterns · length of all names · length of the
  /// longest pattern) in the worst case.
  package mutating func match(_ names: some Sequence<String>, objects: UInt64 = 1, bytes: UInt64 = 0) -> Int? {
    if entries.isEmpty { return nil }
    let names = names.map { Array($0.utf8) }
    guard let index = entries.firstIndex(where: { entry in names.contains { entry.pattern.matches($0) } }) else {
      return nil
    }
    entries[index].findings += 1
    entries[index].objects = Self.saturatingSum(entries[index].objects, objects)
    entries[index].bytes = Self.saturatingSum(entries[index].bytes, bytes)
    return index
  }

  private static func saturatingSum(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let (sum, overflow) = a.addingReportingOverflow(b)
    return overflow ? .max : sum
  }

  /// The patterns that have hidden something.
  package var used: [Entry] { entries.filter { $0.findings > 0 } }

  /// The patterns that have hidden nothing: they may be mistyped, or no longer needed.
  package var unused: [Entry] { entries.filter { $0.findings == 0 } }
}

/// A pattern for a part of a name, as in LeakSanitizer's templates. Bytes are compared, and case counts.
///
/// - `*` matches any text, even none.
/// - `^` as the first character matches the beginning of the name. `$` as the last one matches the end of the name.
///   Elsewhere both match themselves, since mangled Swift names begin with `$s`. LeakSanitizer ends a pattern at any
///   `$`.
/// - Without these two, a pattern matches anywhere in a name.
///
/// An empty name matches nothing.
package struct SuppressionPattern: Hashable, Sendable, CustomStringConvertible {
  /// The pattern's text, without `leak:`.
  package let text: String
  private let glob: Glob

  package init(_ text: String) {
    self.text = text
    var bytes = Array(text.utf8)[...]
    let beginsName = bytes.first == UInt8(ascii: "^")
    if beginsName { bytes.removeFirst() }
    let endsName = bytes.last == UInt8(ascii: "$")
    if endsName { bytes.removeLast() }
    var tokens: [Glob.Token] = bytes.map { $0 == UInt8(ascii: "*") ? .anyText : .byte($0) }
    if !beginsName { tokens.insert(.anyText, at: 0) }
    if !endsName { tokens.append(.anyText) }
    glob = Glob(tokens)
  }

  package var description: String { text }

  /// Returns whether a name matches. O(length of name · length of pattern) at worst.
  package func matches(_ name: String) -> Bool { matches(Array(name.utf8)) }

  func matches(_ name: [UInt8]) -> Bool { !name.isEmpty && glob.matches(name) }
}

/// An error in a line of a suppression file.
package struct SuppressionSyntaxError: Error, Hashable, Sendable {
  package enum Reason: Hashable, Sendable {
    /// A kind that other sanitizers may know, such as `race`.
    case unknownKind(String)
    /// The line has no colon.
    case missingKind(line: String)
    /// Nothing is after `leak:`, or only anchors are. Without a pattern, LeakSanitizer hides everything.
    case emptyPattern
  }

  package var file: String
  /// The line's number, from 1.
  package var line: Int
  package var reason: Reason
}

extension SuppressionSyntaxError: CustomStringConvertible {
  package var description: String {
    switch reason {
    case .unknownKind(let kind):
      return "\(file):\(line): unknown kind of suppression '\(kind)'; only 'leak:PATTERN' is supported"
    case .missingKind(let text):
      return "\(file):\(line): '\(text)' is not a suppression; write 'leak:\(text)'"
    case .emptyPattern:
      return "\(file):\(line): no pattern after 'leak:'; to hide every finding, write 'leak:*'"
    }
  }
}
