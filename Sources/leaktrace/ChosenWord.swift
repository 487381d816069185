// Values of options that are one of some words, and suggestions for mistyped ones.

import ArgumentParser
import TraceAnalysis

/// A value of an option that is one of some words. A mistyped one gets a suggestion.
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

/// The value that stopped the parsing of the command line. The parser asks a type for a value and takes nil for an
/// answer, so the words that were possible are kept here until its message is written. Main thread only.
enum RejectedWord {
  nonisolated(unsafe) private static var nearest: [String] = []

  static func note(_ word: String, among words: [String]) {
    note(nearest: NearestWords.nearest(to: word, among: words))
  }

  /// - Parameter words: The values that the user may have meant, in the form that the option takes.
  static func note(nearest words: [String]) { nearest = words }

  /// Nil if no value was rejected, or nothing is near it.
  static var question: String? { NearestWords.question(nearest) }
}

/// Suggestions for mistakes on a command line.
enum Suggestion {
  /// Throws if the first word is no command, or `help` is asked about none.
  static func checkCommand(_ arguments: [String]) throws(ValidationError) {
    let isHelp = arguments.first == "help"
    guard let word = isHelp ? arguments.dropFirst().first : arguments.first, !word.hasPrefix("-") else { return }
    // Some commands are not listed.
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

  /// Returns the message of an error with a suggestion for the value that was rejected; nil without a suggestion.
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

  /// Returns a question with the options of a command that are near to a mistyped one; empty if none is.
  ///
  /// - Parameter option: The word on the command line, which may have a `=` and a value.
  static func question(forOption option: String, of command: any ParsableCommand.Type) -> String {
    let name = String(option.prefix { $0 != "=" })
    return NearestWords.question(NearestWords.nearest(to: name, among: options(of: command))).map { " \($0)" } ?? ""
  }

  /// The long names of a command's options, as its help lists them.
  private static func options(of command: any ParsableCommand.Type) -> [String] {
    command.helpMessage(columns: 1000).split(separator: "\n").flatMap { line -> [String] in
      guard line.hasPrefix("  -") else { return [] }
      // Two spaces end the names, and the help follows.
      let words = line.dropFirst(2)
      let names = words.firstRange(of: "  ").map { words[..<$0.lowerBound] } ?? words
      return names.split { " ,/".contains($0) }.filter { $0.hasPrefix("--") }.map(String.init)
    }
  }
}
