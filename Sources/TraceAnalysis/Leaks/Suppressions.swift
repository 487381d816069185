// Which findings the user has asked not to hear of, in the syntax of LeakSanitizer's suppression files.

/// Patterns of known findings, and how often each has hidden one.
///
/// A file has a pattern a line, `leak:PATTERN`. Blank lines, and lines that begin with `#`, are passed over, and so is white space around a
/// line; lines may end with CR LF.
///
///     # Held for ever by design.
///     leak:^MyApp.ImageCache
///     leak:libcrypto.so
///
/// A value: copies count for themselves.
public struct Suppressions: Sendable {
  /// A pattern, where it stands, and what it has hidden.
  public struct Entry: Hashable, Sendable {
    public let pattern: SuppressionPattern
    public let file: String
    /// From 1.
    public let line: Int
    public internal(set) var findings: UInt64 = 0
    /// The objects of these findings, and their bytes.
    public internal(set) var objects: UInt64 = 0
    public internal(set) var bytes: UInt64 = 0
  }

  /// In the order of the files and their lines.
  public private(set) var entries: [Entry] = []

  /// No pattern: hides nothing.
  public init() {}

  /// Reads the text of a suppression file. `file` is what errors and entries call it.
  public init(parsing text: String, file: String) throws(SuppressionSyntaxError) {
    // Bytes, because CR LF is a single Character.
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
      entries.append(Entry(pattern: SuppressionPattern(String(decoding: pattern, as: UTF8.self)), file: file, line: index + 1))
    }
  }

  private static func trim(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r") }
    var trimmed = line.drop(while: isBlank)
    while let last = trimmed.last, isBlank(last) { trimmed.removeLast() }
    return trimmed
  }

  /// Adds the patterns of another file after these.
  public mutating func append(contentsOf other: Suppressions) { entries += other.entries }

  /// The index in `entries` of the first pattern that matches any name of a finding: its type, and the functions, modules and source files
  /// of its stack and retain path. That pattern is charged with the finding, of so many objects and bytes in all. Nil if none matches.
  /// O(patterns · length of all names · length of the longest pattern) at worst.
  public mutating func match(_ names: some Sequence<String>, objects: UInt64 = 1, bytes: UInt64 = 0) -> Int? {
    if entries.isEmpty { return nil }
    let names = names.map { Array($0.utf8) }
    guard let index = entries.firstIndex(where: { entry in names.contains { entry.pattern.matches($0) } }) else { return nil }
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
  public var used: [Entry] { entries.filter { $0.findings > 0 } }

  /// The patterns that have hidden nothing: mistyped perhaps, or no longer needed.
  public var unused: [Entry] { entries.filter { $0.findings == 0 } }
}

/// What part of a name must look like: LeakSanitizer's templates. Case counts, and bytes are compared.
///
/// - `*` stands for any text, and for none.
/// - `^` as the first character: the name begins here. `$` as the last one: the name ends here. Elsewhere both stand for themselves, since
///   mangled Swift names begin with `$s`; LeakSanitizer ends a pattern at any `$`.
/// - Without those, a pattern matches anywhere in a name.
///
/// A name that is empty matches nothing.
public struct SuppressionPattern: Hashable, Sendable, CustomStringConvertible {
  /// As it was written, without `leak:`.
  public let text: String
  /// What stands between the stars. All of it must be found in this order; the first and the last one are empty where a star is outermost.
  private let parts: [[UInt8]]
  private let beginsName: Bool
  private let endsName: Bool

  public init(_ text: String) {
    self.text = text
    var bytes = Array(text.utf8)[...]
    beginsName = bytes.first == UInt8(ascii: "^")
    if beginsName { bytes.removeFirst() }
    endsName = bytes.last == UInt8(ascii: "$")
    if endsName { bytes.removeLast() }
    parts = bytes.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false).map(Array.init)
  }

  public var description: String { text }

  /// O(length of name · length of pattern) at worst.
  public func matches(_ name: String) -> Bool { matches(Array(name.utf8)) }

  func matches(_ name: [UInt8]) -> Bool {
    if name.isEmpty { return false }
    var rest = name[...]
    var middle = parts[...]
    // The anchored parts have one place each; the others take the first that there is, which leaves the most for those after them.
    if beginsName, let first = middle.first {
      if middle.count == 1 && endsName { return rest.elementsEqual(first) }
      if !rest.starts(with: first) { return false }
      rest = rest.dropFirst(first.count)
      middle.removeFirst()
    }
    if endsName, let last = middle.last {
      if rest.count < last.count || !rest.suffix(last.count).elementsEqual(last) { return false }
      rest = rest.dropLast(last.count)
      middle.removeLast()
    }
    for part in middle {
      guard let end = Self.endOfFirst(part, in: rest) else { return false }
      rest = rest[end...]
    }
    return true
  }

  /// Where the first occurrence of a part ends.
  private static func endOfFirst(_ part: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
    guard let head = part.first else { return bytes.startIndex }
    if bytes.count < part.count { return nil }
    for start in bytes.startIndex...(bytes.endIndex - part.count) where bytes[start] == head {
      if bytes[start..<start + part.count].elementsEqual(part) { return start + part.count }
    }
    return nil
  }
}

/// A line of a suppression file that says nothing about leaks.
public struct SuppressionSyntaxError: Error, Hashable, Sendable {
  public enum Reason: Hashable, Sendable {
    /// A kind that other sanitizers may know, such as `race`.
    case unknownKind(String)
    /// No colon.
    case missingKind(line: String)
    /// Nothing after `leak:`, or anchors alone. LeakSanitizer takes the former to hide everything.
    case emptyPattern
  }

  public var file: String
  /// From 1.
  public var line: Int
  public var reason: Reason
}

extension SuppressionSyntaxError: CustomStringConvertible {
  public var description: String {
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
