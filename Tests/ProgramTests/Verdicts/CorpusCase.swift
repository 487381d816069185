// The corpus's data: the findings that `analyze` must report in each program of Tests/Corpus.

import Foundation

/// A program of the corpus with its expected findings.
struct CorpusCase: Decodable, Sendable {
  var name: String
  /// The executable that contains the program.
  var program: CorpusProgram?
  /// The only variants that contain the program; nil for all variants of its executable.
  var variants: [CorpusVariant]?
  /// The findings with the fault; nil for a program that has no faulty form.
  var leak: [ExpectedFinding]?
  /// The findings without the fault.
  var clean: [ExpectedFinding]

  static let directory = BuildProducts.packageRoot + "/Tests/Corpus"

  static func all() throws -> [CorpusCase] {
    try JSONDecoder().decode(
      [CorpusCase].self, from: Data(contentsOf: URL(fileURLWithPath: directory + "/expected.json")))
  }

  func exists(in variant: CorpusVariant) -> Bool {
    let program = program ?? .corpus
    guard program.variants.contains(variant), variants?.contains(variant.expectations) ?? true else { return false }
    return variant != .earlierRuntime || EarlierRuntimeCorpus.names.contains(name)
  }
}

enum Verdict: String, Codable, Sendable { case retainCycle, lost, deinitialised, suspended, dangling }

/// A finding as the data describe it.
struct ExpectedFinding: Decodable, Equatable, Sendable {
  /// In a list of members: any number of steps of any kind, or none.
  static let anySteps = "..."
  /// In a list of edges: any name.
  static let anyName = "*"

  var verdict: Verdict
  var library = false
  var count: Int
  /// Types of objects, and kinds of other blocks, in the order of the path. A cycle may begin at any member.
  var members: [String]
  /// The names of the references from each member. The last names may be left out if the path is not a cycle.
  var edges: [String]
  var retainedObjects: Int?
  /// The only variants that report it; all if nil.
  var variants: [CorpusVariant]?

  init(
    _ verdict: Verdict, count: Int, members: [String], edges: [String], library: Bool = false,
    retainedObjects: Int? = nil
  ) {
    self.verdict = verdict
    self.library = library
    self.count = count
    self.members = members
    self.edges = edges
    self.retainedObjects = retainedObjects
  }

  private enum Key: CodingKey { case verdict, library, count, members, edges, retainedObjects, variants }

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: Key.self)
    verdict = try values.decode(Verdict.self, forKey: .verdict)
    library = try values.decodeIfPresent(Bool.self, forKey: .library) ?? false
    count = try values.decode(Int.self, forKey: .count)
    members = try values.decode([String].self, forKey: .members)
    edges = try values.decode([String].self, forKey: .edges)
    retainedObjects = try values.decodeIfPresent(Int.self, forKey: .retainedObjects)
    variants = try values.decodeIfPresent([CorpusVariant].self, forKey: .variants)
  }
}
