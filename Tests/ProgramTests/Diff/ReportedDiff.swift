// The parts of the JSON of `diff` that the tests read.

import Foundation

struct ReportedDiff: Decodable, Sendable {
  struct Figure: Decodable, Sendable {
    var figure: String
    var direction: String
  }

  struct Match: Decodable, Sendable { var kind: String }

  struct Finding: Decodable, Sendable {
    struct Step: Decodable, Sendable {
      var kind: String
      var type: String?
      var function: String?
    }
    var verdict: String
    var path: [Step]
  }

  struct FindingChange: Decodable, Sendable {
    var kind: String
    var old: Finding?
    var new: Finding?
    var match: Match?
    var figures: [Figure]
  }

  struct Frame: Decodable, Sendable { var function: String }

  struct AllocationChange: Decodable, Sendable {
    var kind: String
    var name: String
    var oldName: String?
    var frames: [Frame]
    var figures: [Figure]
  }

  struct Section<Change: Decodable & Sendable>: Decodable, Sendable {
    var changes: [Change]
    var unchanged: Int
    var moved: Int
  }

  var schema: String
  var findings: Section<FindingChange>
  var types: Section<AllocationChange>
  var sites: Section<AllocationChange>
  var totals: [Figure]
  var renames: [PairCase.Rename]

  static func read(_ json: String) throws -> ReportedDiff {
    do {
      return try JSONDecoder().decode(ReportedDiff.self, from: Data(json.utf8))
    } catch {
      throw CommandFailure("\(error): \(json.prefix(2000))")
    }
  }
}
