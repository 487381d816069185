// The data of Tests/Corpus/Pairs: what has changed between the two versions of each program.

import Foundation
import TestRequirements

/// Two versions of a program, or one that is run in two ways, and what is to be said of the change.
struct PairCase: Decodable, Sendable {
  /// A finding that is not as it was.
  struct Finding: Decodable, Equatable, Sendable {
    var kind: String
    var verdict: String
    /// The type of any object of its path, without modules.
    var type: String
    /// nil for new ones and those that are gone.
    var match: String?
    /// The function that made the first object of its path, or a part of its name; not looked at if nil.
    var function: String?
    /// The figures that are worse, and those that are better, none of others; not looked at if both are nil.
    var worse: [String]?
    var better: [String]?
  }

  /// A type or a site that is not as it was.
  struct Allocation: Decodable, Equatable, Sendable {
    var kind: String
    /// The type's, without modules, or the allocating function's.
    var name: String
    /// Of a site: a part of the name of any function on its stack; not looked at if nil.
    var function: String?
    /// If it had another.
    var oldName: String?
    /// As of a finding, but that retains, releases and temporary blocks are looked at only if they are named.
    var worse: [String]?
    var better: [String]?
  }

  /// Of the totals. As of a type, if there are any to be named; else no figure may have changed.
  struct Directions: Decodable, Equatable, Sendable {
    var worse: [String]?
    var better: [String]?
  }

  struct Rename: Decodable, Equatable, Sendable {
    var old: String
    var new: String
  }

  /// One use of `leaktrace diff`, and all that it is to report.
  struct Comparison: Decodable, Sendable {
    /// The only variant that it is meant for; nil: all.
    var variant: PairVariant?
    /// Of `leaktrace diff`.
    var options: [String]?
    /// By side the arguments of each run; one run without any if nil.
    var before: [[String]]?
    var after: [[String]]?
    var findings: [Finding]?
    var unchanged: Int?
    /// Not looked at if nil.
    var moved: Int?
    var types: [Allocation]?
    var sites: [Allocation]?
    var totals: Directions?
    /// Not looked at if nil.
    var renames: [Rename]?
  }

  /// What differs in how the sides are compiled.
  struct Compilation: Decodable, Sendable {
    var module: String?
    var flags: [String]?
  }

  private struct Contents: Decodable {
    var variant: PairVariant?
    var comparisons: [Comparison]
    var before: Compilation?
    var after: Compilation?
  }

  var name: String
  /// The only one that it is compiled in, if the optimiser has no part in how it is told what is the same; nil: all.
  var variant: PairVariant?
  var comparisons: [Comparison]
  var compilations: [PairSide: Compilation]

  static let directory = CorpusCase.directory + "/Pairs"
  private static let others: Set<String> = ["Shared", "Real"]

  init(from decoder: any Decoder) throws {
    let contents = try Contents(from: decoder)
    name = ""
    variant = contents.variant
    comparisons = contents.comparisons
    compilations = [.before: contents.before, .after: contents.after].compactMapValues { $0 }
  }

  /// What there is to be said in a variant.
  func comparisons(in variant: PairVariant) -> [Comparison] {
    guard self.variant == nil || self.variant == variant else { return [] }
    return comparisons.filter { $0.variant == nil || $0.variant == variant }
  }

  static func all() throws -> [PairCase] {
    try FileManager.default.contentsOfDirectory(atPath: directory).filter { !others.contains($0) && !$0.hasPrefix(".") }
      .sorted().map(read)
  }

  static func read(_ name: String) throws -> PairCase {
    do {
      var pair = try JSONDecoder().decode(
        PairCase.self, from: Data(contentsOf: URL(fileURLWithPath: "\(directory)/\(name)/expected.json")))
      pair.name = name
      return pair
    } catch {
      throw CommandFailure("\(name)/expected.json: \(error)")
    }
  }
}

enum PairSide: String, CaseIterable, Sendable { case before, after }

/// One way of compiling the pairs.
enum PairVariant: String, Codable, CaseIterable, Sendable {
  case unoptimised = "Onone"
  case optimised = "O"

  /// The variants that are tested.
  static let tested = TestTier.arguments([.optimised], of: allCases)
}
