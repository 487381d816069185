// The data of Tests/Corpus/Scopes: the objects that outlive their scope in each program, and their holders.

import Foundation

struct ScopeCase: Decodable, Sendable {
  struct Finding: Decodable, Equatable, Sendable {
    var verdict: String
    /// The name of the type, without the module.
    var type: String
    var count: Int
    var library: Bool?
    /// A part of the report's text about the holder; nil for findings that do not concern scopes.
    var holder: String?
    /// Other wordings of the same holder.
    var otherHolders: [String]?
    /// The number of live objects of the type in the faulty run; `count` if nil.
    var live: Int?
    /// The number of live objects of the type that are kept on purpose without the fault; nil if there are none.
    var liveInTwin: Int?
  }

  var name: String
  /// Nil for a program that has no faulty form.
  var leak: [Finding]?
  var clean: [Finding]

  static func all() throws -> [ScopeCase] {
    try JSONDecoder().decode(
      [ScopeCase].self, from: Data(contentsOf: URL(fileURLWithPath: CorpusCase.directory + "/Scopes/expected.json")))
  }
}
