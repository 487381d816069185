// The evidence of a finding as JSON, as docs/report-schema.md describes it.

import HeapAnalysis
import LeakDetection
import TextWriting
import TraceReading

/// The fields of a finding whose values depend on the kind of its evidence. The document has all of them for each
/// finding; a field without a value is null.
struct EvidenceJSON {
  private(set) var strength: String?
  private(set) var way = JSONValue.null
  private(set) var count: ReferenceCount?
  private(set) var ending: Finding.Ending?
  private(set) var outliving = JSONValue.null

  init(_ evidence: Finding.Evidence) {
    strength = evidence.strength?.rawValue
    switch evidence {
    case .unreachable(let kind, let way):
      if let way {
        self.way = .object([("kind", .string(way.kind.rawValue)), ("holder", .string(way.holder))])
        if evidence.isDoubtful { strength = "likely" }
      }
      if case .lost(let count) = kind { self.count = count }
    case .deinitialised(let count): self.count = count
    case .dangling(let ending): self.ending = ending
    case .suspected(let suspicion, let survivors):
      outliving = Self.value(
        nil, survivors.retention, survivors.siblings, survivors.quarters, suspicion.figures)
    case .stated(let statement, let survivors):
      outliving = Self.value(
        Self.value(statement), survivors.retention, survivors.siblings, survivors.quarters, nil)
    case .repeated(let rounds, let retention, let siblings):
      let statement = JSONValue.object(
        [("kind", .string("repetition"))] + FindingJSON.fields(rounds.place) + [
          ("firstRound", .number(UInt64(rounds.first))), ("measure", .string(rounds.measure.rawValue)),
        ])
      outliving = Self.value(statement, retention, siblings, rounds.counts, nil)
    case .images(let growth, let retention):
      let statement = JSONValue.object([
        ("kind", .string("images")), ("images", .integer(Int64(growth.images))),
        ("seconds", .decimal(growth.seconds)), ("lateShare", .decimal(growth.lateShare)),
        ("measure", .string(growth.measure.rawValue)),
      ])
      outliving = Self.value(statement, retention, nil, growth.counts, nil)
    }
  }

  private static func value(_ statement: Finding.Statement) -> JSONValue {
    switch statement {
    case .scope(let scope):
      .object(
        [("kind", .string("scope"))] + FindingJSON.fields(scope.place) + [
          ("executions", .number(scope.executions)), ("executionsWithRest", .number(scope.executionsWithRest)),
          ("graceSeconds", .optional(scope.grace)),
        ])
    case .expectation(let expectation):
      .object(
        [("kind", .string("expectation"))] + FindingJSON.fields(expectation.place) + [
          ("met", .number(expectation.met)), ("late", .number(expectation.late)),
          ("violated", .number(expectation.violated)), ("longestDelaySeconds", .optional(expectation.longestDelay)),
        ])
    }
  }

  private static func value(
    _ statement: JSONValue?, _ retention: Finding.Retention, _ siblings: Finding.Siblings?, _ growth: [Int],
    _ figures: Finding.Figures?
  ) -> JSONValue {
    let snapshot = retention.snapshot.map { UInt64($0) }
    let letGoLine = retention.letGo?.line.map { UInt64($0) }
    let endLine = retention.end?.place?.line.map { UInt64($0) }
    let scopeShare = siblings?.scope == nil ? nil : siblings.map { UInt64($0.scopeShare) }
    let live = figures?.live ?? []
    let holder: [(String, JSONValue)] = [
      ("statement", statement ?? .null),
      ("snapshot", .optional(snapshot)),
      ("holder", .string(retention.holder)),
      ("ownHolder", .optional(retention.ownHolder)),
      ("registration", .optional(retention.registration?.rawValue)),
      ("beyondReach", .bool(retention.isBeyondReach ?? false)),
      ("letGo", .optional(retention.letGo?.function)),
      ("letGoFile", .optional(retention.letGo?.file)),
      ("letGoLine", .optional(letGoLine)),
      ("cancelled", .bool(retention.isCancelled ?? false)),
      ("endedWith", .optional(retention.end?.owner)),
      ("endedIn", .optional(retention.end?.place?.function)),
      ("endedInFile", .optional(retention.end?.place?.file)),
      ("endedInLine", .optional(endLine)),
      ("root", .string(retention.origin.name)),
      ("suspect", .number(UInt64(retention.suspect))),
    ]
    let lives: [(String, JSONValue)] = [
      ("births", .number(siblings?.births ?? 0)),
      ("deaths", .number(siblings?.deaths ?? 0)),
      ("scope", .optional(siblings?.scope?.function)),
      ("scopeFile", .optional(siblings?.scope?.file)),
      ("scopeShare", .optional(scopeShare)),
      ("siblingSeconds", .optional(siblings?.lifetime)),
      ("youngestSeconds", .optional(retention.ages?.youngest)),
      ("oldestSeconds", .optional(retention.ages?.oldest)),
      ("growth", .array(growth.map { .number(UInt64($0)) })),
      ("live", .array(live.map { .number($0) })),
      ("chance", .optional(figures?.chance)),
      ("longestLifeSeconds", .optional(figures?.longestLifetime)),
    ]
    return .object(holder + lives)
  }

  static func value(_ moment: Finding.Moment) -> JSONValue {
    .object([
      ("operation", .string(moment.operation)),
      ("seconds", .optional(moment.seconds)),
      ("thread", .optional(moment.thread)),
      ("userFrame", moment.userFrame.map { .integer(Int64($0)) } ?? .null),
      (
        "frames",
        .array(
          moment.frames.map { frame in
            .object([
              ("function", .string(frame.function)), ("image", .optional(frame.imageName)),
              ("file", .optional(frame.file)),
              ("line", frame.line.map { .integer(Int64($0)) } ?? .null),
            ])
          })
      ),
    ])
  }
}
