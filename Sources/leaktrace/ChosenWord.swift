// Option values that are one word of a fixed list, and suggestions for mistyped words.

import ArgumentParser
import TraceAnalysis

/// An option value that is one word of a fixed list. The error message for a mistyped word suggests the nearest ones.
package protocol ChosenWord: ExpressibleByArgument, CaseIterable, RawRepresentable where RawValue == String {}

extension ChosenWord {
  package init?(argument: String) {
    guard let value = Self(rawValue: argument) else {
      RejectedWord.note(argument, among: Self.allCases.map(\.rawValue))
      return nil
    }
    self = value
  }
}

/// The words near to the value that stopped the parsing. A type can only return nil to the parser to reject a value, so
/// the suggestions are kept here until the parser has written its message. Main thread only.
enum RejectedWord {
  nonisolated(unsafe) private static var nearest: [String] = []

  static func note(_ word: String, among words: [String]) {
    note(nearest: NearestWords.nearest(to: word, among: words))
  }

  /// - Parameter words: The values that the user may have meant, in the form that the option takes.
  static func note(nearest words: [String]) { nearest = words }

  /// A question that suggests the near words; nil if no value was rejected, or none is near.
  static var question: String? { NearestWords.question(nearest) }
}

/// Suggestions for mistakes on a command line.
enum Suggestion {
  /// Throws if the first word, or the word after `help`, is not a command.
  static func checkCommand(_ arguments: [String]) throws(ValidationError) {
    let isHelp = arguments.first == "help"
    guard let word = isHelp ? arguments.dropFirst().first : arguments.first, !word.hasPrefix("-") else { return }
    // Compare with all subcommands: some are not listed in the help.
    if word == "help" || Leaktrace.configuration.subcommands.contains(where: { $0.configuration.commandName == word }) {
      return
    }
    if !isHelp, TraceListing.isTrace(word) {
      throw ValidationError(
        "'\(PlainText.escaped(word))' is a trace. Did you mean 'leaktrace analyze \(PlainText.escaped(word))'?")
    }
    let names = Leaktrace.commandNames + ["help"]
    let question = NearestWords.question(NearestWords.nearest(to: word, among: names)).map { " \($0)" } ?? ""
    throw ValidationError("There is no command '\(PlainText.escaped(word))'.\(question)")
  }

  /// Returns the message of an error, with a suggestion for the rejected value; nil if there is no suggestion.
  static func message(for error: any Error) -> String? {
    guard let question = RejectedWord.question, Leaktrace.exitCode(for: error) == .validationFailure else { return nil }
    var text = Leaktrace.fullMessage(for: error)
    let message = Leaktrace.message(for: error)
    guard let place = text.firstRange(of: message) else { return nil }
    let possible = message.firstRange(of: " Please provide one of")?.lowerBound ?? message.endIndex
    let stop = message[..<possible].hasSuffix(".") ? "" : "."
    text.replaceSubrange(place, with: "\(message[..<possible])\(stop) \(question)\(message[possible...])")
    return text
  }

  /// Returns a question that suggests the options of a command that are near to a mistyped option; empty if none is
  /// near.
  ///
  /// - Parameter option: The word on the command line; a `=` and a value may follow the option's name.
  static func question(forOption option: String, of command: any ParsableCommand.Type) -> String {
    let name = String(option.prefix { $0 != "=" })
    return NearestWords.question(NearestWords.nearest(to: name, among: options(of: command))).map { " \($0)" } ?? ""
  }

  /// The long names of a command's options, as its help lists them.
  private static func options(of command: any ParsableCommand.Type) -> [String] {
    command.helpMessage(columns: 1000).split(separator: "\n").flatMap { line -> [String] in
      guard line.hasPrefix("  -") else { return [] }
      // The names end at two spaces; the help text follows.
      let words = line.dropFirst(2)
      let names = words.firstRange(of: "  ").map { words[..<$0.lowerBound] } ?? words
      return names.split { " ,/".contains($0) }.filter { $0.hasPrefix("--") }.map(String.init)
    }
  }
}
