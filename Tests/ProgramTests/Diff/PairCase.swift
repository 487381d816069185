// The data of Tests/Corpus/Pairs: the changes between the two versions of each program.

import Foundation
import TestRequirements

/// Two versions of a program, or one program that runs in two ways, and the expected report of the change.
struct PairCase: Decodable, Sendable {
  /// A finding that changed.
  struct Finding: Decodable, Equatable, Sendable {
    var kind: String
    var verdict: String
    /// The type of any object of its path, without modules.
    var type: String
    /// The kind of match between the sides; nil for findings that are new or gone.
    var match: String?
    /// The function that made the first object of its path, or a part of the function's name; not checked if nil.
    var function: String?
    /// All figures that are worse, and all figures that are better; not checked if both lists are nil.
    var worse: [String]?
    var better: [String]?
  }

  /// A type or a site that changed.
  struct Allocation: Decodable, Equatable, Sendable {
    var kind: String
    /// The type's name, without modules, or the allocating function's name.
    var name: String
    /// For a site: a part of the name of any function on its stack; not checked if nil.
    var function: String?
    /// The name on the old side, if it differs from the new name.
    var oldName: String?
    /// As in a finding, but retains, releases and temporary blocks are checked only if they are listed.
    var worse: [String]?
    var better: [String]?
  }

  /// Changes of the totals. If figures are listed, they are checked as in a type; otherwise no total may have changed.
  struct Directions: Decodable, Equatable, Sendable {
    var worse: [String]?
    var better: [String]?
  }

  struct Rename: Decodable, Equatable, Sendable {
    var old: String
    var new: String
  }

  /// One use of `leaktrace diff`, and its whole expected report.
  struct Comparison: Decodable, Sendable {
    /// The only variant that the comparison applies to; nil for all.
    var variant: PairVariant?
    /// Options of `leaktrace diff`.
    var options: [String]?
    /// The arguments of each run of the old and the new side; nil for one run without arguments.
    var before: [[String]]?
    var after: [[String]]?
    var findings: [Finding]?
    var unchanged: Int?
    /// Not checked if nil.
    var moved: Int?
    var types: [Allocation]?
    var sites: [Allocation]?
    var totals: Directions?
    /// Not checked if nil.
    var renames: [Rename]?
  }

  /// The differences in how the sides are compiled.
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
  /// The only variant that the program is compiled in; nil for all. Set if matching the sides does not depend on the
  /// optimiser.
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

  /// The comparisons that apply to a variant.
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

/// A way of compiling the pairs.
enum PairVariant: String, Codable, CaseIterable, Sendable {
  case unoptimised = "Onone"
  case optimised = "O"

  /// The variants that are tested.
  static let tested = TestTier.arguments([.optimised], of: allCases)
}
