// The options that select the objects of a question: for `why` and `history`.

import ArgumentParser
import TraceAnalysis

/// The objects that a question is about.
struct AskedObject: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "An address (0x…), a type, or with --site an allocating function: part of the name, or a glob.",
      valueName: "object"))
  var subject: String

  @Flag(help: "Match the name against the functions on the allocation's stack.")
  var site = false

  func validate() throws {
    if subject.hasPrefix("0x"), UInt64(subject.dropFirst(2), radix: 16) == nil {
      throw ValidationError("'\(subject)' is no address.")
    }
  }

  /// The subject: an address, a type's name, or with `--site` the name of a function on the stack of the allocation.
  var query: RetainQuery {
    if subject.hasPrefix("0x"), let address = UInt64(subject.dropFirst(2), radix: 16) {
      return .address(RuntimeAddress(address))
    }
    return site ? .site(NamePattern(subject)) : .type(NamePattern(subject))
  }

  /// Returns a question that suggests names similar to the subject; empty if no name is similar.
  ///
  /// - Parameter names: Returns the names in the trace; called only if the subject is a name.
  func suggestion(among names: () -> [String]) -> String {
    guard let word = NamePattern(subject).word, !subject.hasPrefix("0x") else { return "" }
    return NearestWords.question(NearestWords.nearest(to: word, among: names())).map { " \($0)" } ?? ""
  }
}
