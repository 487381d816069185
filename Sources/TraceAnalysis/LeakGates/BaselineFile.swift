// Writes a baseline as text that can be reviewed and merged line by line. Reads the text after people have edited it.

import TextWriting
import TraceReading

extension Baseline {
  static let standardHead = [
    "# Leaks that are known and accepted: leaktrace --baseline FILE does not fail for them.",
    "# A finding a line: fingerprint, instances, verdict, \"what leaks\", and to the end of the line why it is accepted.",
    "# Please give a reason. --update-baseline rewrites the file: it keeps reasons and comments, and drops findings that are gone.",
  ]

  /// The file's text. Parsing it gives an equal baseline.
  package var text: String {
    var lines = head
    if !lines.isEmpty { lines.append("") }
    for entry in entries {
      lines += entry.comments
      lines.append(
        "\(entry.fingerprint) \(entry.instances) \(entry.verdict) \(Self.quoted(entry.subject))"
          + (entry.reason.isEmpty ? "" : " \(entry.reason)"))
    }
    if !tail.isEmpty { lines += [""] + tail }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func quoted(_ subject: String) -> String {
    var text = ""
    for character in subject.unicodeScalars {
      if character == "\"" || character == "\\" { text += "\\" }
      text.unicodeScalars.append(character)
    }
    return "\"\(PlainText.escaped(text))\""
  }

  /// - Parameter bytes: The file's contents: UTF-8, with or without a byte order mark, lines ended by LF or CR LF, in
  ///   any order.
  /// - Parameter file: The file's name in errors.
  package init(parsing bytes: some Sequence<UInt8>, file: String) throws(BaselineSyntaxError) {
    var rest = Array(bytes)[...]
    if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
    var entries: [Entry] = []
    var head: [String]?
    var comments: [String] = []
    for (index, line) in rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
      func failure(_ reason: BaselineSyntaxError.Reason) -> BaselineSyntaxError {
        BaselineSyntaxError(file: file, line: index + 1, reason: reason)
      }
      guard let text = String(validating: line, as: UTF8.self) else { throw failure(.notUTF8) }
      let content = Self.trimmed(text)
      if content.isEmpty {
        // A comment followed by an empty line is about the whole file.
        if entries.isEmpty, !comments.isEmpty {
          head = (head.map { $0 + [""] } ?? []) + comments
          comments = []
        }
      } else if content.unicodeScalars.first == "#" {
        comments.append(content)
      } else if ["<<<<<<<", "=======", ">>>>>>>", "|||||||"].contains(where: { content.hasPrefix($0) }) {
        throw failure(.conflict)
      } else {
        var entry = try Self.entry(content, failure)
        if entries.isEmpty, head == nil {
          (head, comments) = (comments, [])
        }
        entry.comments = comments
        comments = []
        entries.append(entry)
      }
    }
    // If there is no entry, all comments are about the file.
    if entries.isEmpty, !comments.isEmpty {
      head = (head.map { $0 + [""] } ?? []) + comments
      comments = []
    }
    self.init(entries, head: head ?? (entries.isEmpty ? Self.standardHead : []), tail: comments)
  }

  private static func entry(_ content: String, _ failure: (BaselineSyntaxError.Reason) -> BaselineSyntaxError)
    throws(BaselineSyntaxError) -> Entry
  {
    // Parse scalars: a combining mark after a space or quotation mark would form one Character with it.
    var rest = content.unicodeScalars[...]
    func word() -> String {
      let word = rest.prefix { !isBlank($0) }
      rest = rest[word.endIndex...].drop(while: isBlank)
      return String(word)
    }
    let fingerprint = word()
    guard fingerprint.utf8.count == 16,
      fingerprint.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
    else {
      throw failure(.badFingerprint(fingerprint))
    }
    let count = word()
    guard count.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let instances = Int(count), instances > 0 else {
      throw failure(.badCount(count))
    }
    let verdict = word()
    guard !verdict.isEmpty, verdict.utf8.allSatisfy({ (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) }) else {
      throw failure(.badVerdict(verdict))
    }
    guard let subject = unquoted(&rest) else { throw failure(.badSubject) }
    return Entry(
      fingerprint: fingerprint, instances: instances, verdict: verdict, subject: subject,
      reason: String(rest.drop(while: isBlank)))
  }

  /// Removes a quoted text from the beginning of `rest`, and returns it.
  private static func unquoted(_ rest: inout Substring.UnicodeScalarView) -> String? {
    var scalars = rest
    guard scalars.popFirst() == "\"" else { return nil }
    var text = String.UnicodeScalarView()
    while let scalar = scalars.popFirst() {
      if scalar == "\"" {
        rest = scalars
        return String(text)
      }
      guard scalar == "\\" else {
        text.append(scalar)
        continue
      }
      switch scalars.popFirst() {
      case "\"": text.append("\"")
      case "\\": text.append("\\")
      case "u":
        guard scalars.popFirst() == "{", let end = scalars.firstIndex(of: "}"),
          let number = UInt32(String(scalars[..<end]), radix: 16),
          let escaped = Unicode.Scalar(number)
        else { return nil }
        text.append(escaped)
        scalars = scalars[scalars.index(after: end)...]
      default: return nil
      }
    }
    return nil
  }

  private static func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" || scalar == "\r" }

  private static func trimmed(_ line: String) -> String {
    var line = line.unicodeScalars.drop(while: isBlank)
    while let last = line.last, isBlank(last) { line.removeLast() }
    return String(line)
  }
}

/// A line of a baseline that cannot be read. The description begins with file and line.
package struct BaselineSyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Reason: Hashable, Sendable {
    /// A marker that a merge leaves where both sides changed the file.
    case conflict
    case badFingerprint(String)
    case badCount(String)
    case badVerdict(String)
    case badSubject
    case notUTF8
  }

  package var file: String
  /// The line's number, from 1.
  package var line: Int
  package var reason: Reason

  package var description: String {
    let place = "\(file):\(line): "
    switch reason {
    case .conflict:
      return place
        + "a merge conflict. Keep the findings of both sides, remove the markers, or remove the file and run with --update-baseline"
    case .badFingerprint(let word):
      return place
        + "'\(PlainText.escaped(word))' is not a fingerprint (16 hexadecimal digits). Comments begin with '#'"
    case .badCount(let word): return place + "'\(PlainText.escaped(word))' is not a number of instances, 1 or more"
    case .badVerdict(let word): return place + "'\(PlainText.escaped(word))' is not a verdict, such as retainCycle"
    case .badSubject:
      return place + "after the verdict, the subject must be in quotation marks, with \\\" and \\\\ for those within"
    case .notUTF8: return place + "the line is not UTF-8"
    }
  }
}
