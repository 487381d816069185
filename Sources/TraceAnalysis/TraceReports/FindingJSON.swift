// Findings as JSON, as docs/report-schema.md describes them.

import LeakDetection
import LeakGates
import TextWriting
import TraceReading
import TraceSymbolication
import Wording

enum FindingJSON {
  /// Returns the leak fields of a report.
  static func fields(_ report: LeakReport) -> [(String, JSONValue)] {
    [
      ("conclusion", .string(report.conclusion.rawValue)),
      ("summary", .string(FindingText.conclusion(report).sentence)),
      ("snapshot", report.snapshot.map(value) ?? .null),
      ("residentMemory", report.residentMemory.map(value) ?? .null),
      ("level", report.level.map(value) ?? .null),
      (
        "findings",
        report.unavailable == nil
          ? .array(report.judged.map { value($0, report.stacks[$0.finding.fingerprint]) }) : .null
      ),
      ("findingsUnavailable", .optional(report.unavailable)),
      ("suppressions", .array(report.suppressions.entries.map(value))),
      ("scopes", .array(report.statements.scopes.map(value))),
      ("expectations", .array(report.statements.expectations.map(value))),
      ("generations", .array(report.generations.map(value))),
      ("grown", .array(report.grown.map(value))),
      ("candidates", report.candidates.map { .array($0.map(value)) } ?? .null),
      ("findingRemarks", .array(report.remarks.map { .string($0) })),
    ]
  }

  static func value(_ level: MemoryLevel) -> JSONValue {
    .object([
      ("bytes", .number(level.bytes)), ("share", .decimal(level.share)),
      ("startSeconds", level.start.map { .decimal($0) } ?? .null),
      ("endSeconds", level.end.map { .decimal($0) } ?? .null),
      (
        "holder",
        level.holder.map {
          .object([
            ("name", .string($0.name)), ("type", .string($0.type)), ("count", .number($0.count)),
            ("retainedBytes", .number($0.retainedBytes)),
          ])
        } ?? .null
      ),
    ])
  }

  private static func value(_ memory: ResidentMemory) -> JSONValue {
    .object([
      ("resident", .number(memory.resident)), ("liveBlocks", .number(memory.liveBlocks)),
      ("stacks", .number(memory.stacks)), ("otherPrivate", .number(memory.otherPrivate)),
      ("mapped", .number(memory.mapped)),
      ("freed", .optional(memory.freed)), ("freePages", .optional(memory.freePages)),
      ("hugePages", .optional(memory.hugePages)),
      ("allocators", .array(memory.allocators.map(value))),
      ("pin", memory.pin.map(value) ?? .null),
      ("course", .array(memory.course.moments.map(value))),
      ("remark", memory.deservesRemark ? .string(memory.remark) : .null),
    ])
  }

  private static func value(_ moment: ResidentCourse.Moment) -> JSONValue {
    .object([
      ("seconds", .decimal(moment.seconds)), ("resident", .number(moment.resident)), ("inUse", .number(moment.inUse)),
      ("freed", .number(moment.freed)), ("freePages", .number(moment.freePages)),
    ])
  }

  private static func value(_ allocator: AllocatorRecord) -> JSONValue {
    .object([
      ("name", .string(allocator.kind.name)), ("inUse", .number(allocator.inUse)), ("free", .number(allocator.free)),
      ("cached", .number(allocator.cached)), ("top", .number(allocator.top)), ("mapped", .number(allocator.mapped)),
      ("freePages", .number(allocator.freePages)), ("system", .number(allocator.system)),
      ("arenas", .number(allocator.arenas)), ("arenaLimit", .optional(allocator.arenaLimit)),
      ("freeInOtherArenas", .number(allocator.freeInOtherArenas)),
    ])
  }

  private static func value(_ pin: ResidentMemory.PinningBlock) -> JSONValue {
    .object([
      ("address", .string(Hexadecimal.text(pin.pin.address))), ("bytes", .number(pin.pin.bytes)),
      ("type", .string(pin.type)), ("freeBelow", .number(pin.pin.freeBelow)),
    ])
  }

  private static func value(_ entry: Suppressions.Entry) -> JSONValue {
    .object([
      ("pattern", .string(entry.pattern.text)),
      ("file", .string(entry.file)),
      ("line", .integer(Int64(entry.line))),
      ("findings", .number(entry.findings)),
      ("objects", .number(entry.objects)),
      ("bytes", .number(entry.bytes)),
    ])
  }

  private static func value(_ snapshot: TraceSnapshot) -> JSONValue { .object(fields(snapshot)) }

  static func fields(_ snapshot: TraceSnapshot) -> [(String, JSONValue)] {
    [
      ("number", .number(UInt64(snapshot.number))),
      ("reason", .string(snapshot.reason.key)),
      ("label", .string(snapshot.label)),
      ("isFrozen", .bool(snapshot.isFrozen)),
      ("isWhole", .bool(snapshot.isWhole)),
      ("threads", .number(UInt64(snapshot.threads.count))),
      ("pauseNanoseconds", .optional(snapshot.end?.pauseNanoseconds)),
      ("totalNanoseconds", .optional(snapshot.end?.totalNanoseconds)),
      ("capturedBytes", .optional(snapshot.end?.capturedBytes)),
      ("words", .optional(snapshot.end?.wordCount)),
      ("unreadablePages", .optional(snapshot.end.map { UInt64($0.unreadablePages) })),
    ]
  }

  /// Returns a finding's fields, with its standing relative to the accepted findings.
  private static func value(_ judged: JudgedFinding, _ stacks: FindingStacks?) -> JSONValue {
    let (standing, how, reason): (String, String?, String?) =
      switch judged.standing {
      case .new: ("new", nil, nil)
      case .worse(let how): ("worse", how, nil)
      case .known(let reason): ("known", nil, reason)
      case .hidden: ("hidden", nil, nil)
      case .library: ("library", nil, nil)
      }
    return .object(
      fields(judged.finding) + fields(stacks) + [
        ("standing", .string(standing)), ("worsening", .optional(how)), ("acceptedReason", .optional(reason)),
      ])
  }

  static func value(_ finding: Finding) -> JSONValue { .object(fields(finding)) }

  private static func value(_ grown: GrownCollection) -> JSONValue {
    .object([
      ("holder", .string(grown.holder)), ("holders", .number(UInt64(grown.holders))), ("type", .string(grown.type)),
      ("elements", .number(UInt64(grown.elements))), ("bytes", .number(grown.bytes.rawValue)),
      ("quarters", .array(grown.quarters.map { .number(UInt64($0)) })),
    ])
  }

  private static func value(_ account: SuspicionAccount) -> JSONValue {
    .object([
      ("type", .string(account.type)), ("function", .optional(account.place?.function)),
      ("file", .optional(account.place?.file)), ("line", account.place?.line.map { .integer(Int64($0)) } ?? .null),
      ("live", .integer(Int64(account.live))), ("births", .number(account.births)),
      ("bytes", .number(account.bytes.rawValue)), ("outcome", .string(account.outcome.rawValue)),
      ("points", account.points.map { .integer(Int64($0)) } ?? .null),
      (
        "rules",
        .array(
          account.entries.map { entry in
            .object([
              ("name", .string(entry.rule.rawValue)), ("effect", .string(entry.effect.rawValue)),
              ("points", .integer(Int64(entry.points))), ("figures", .string(entry.figures)),
              ("holders", .integer(Int64(entry.times))),
              ("reason", .string(entry.rule.reason)),
            ])
          })
      ),
    ])
  }

  private static func fields(_ finding: Finding) -> [(String, JSONValue)] {
    let evidence = EvidenceJSON(finding.evidence)
    return [
      ("verdict", .string(finding.verdict.rawValue)),
      ("certainty", .string(finding.certainty.rawValue)),
      ("strength", .optional(evidence.strength)),
      ("way", evidence.way),
      ("fingerprint", .string(finding.fingerprint)),
      ("library", .bool(finding.isLibrary)),
      ("libraryReason", .optional(finding.owner.reason)),
      ("unknownOwner", .bool(finding.owner == .unknown)),
      ("hidden", .bool(finding.suppression != nil)),
      ("suppression", .optional(finding.suppression)),
      ("isCycle", .bool(finding.evidence.isCycle)),
      ("title", .string(FindingTitle.subject(finding))),
      ("subject", finding.subject.map(value) ?? .null),
      ("instances", .number(UInt64(finding.instances))),
      ("retainedBytes", .number(finding.retainedBytes.rawValue)),
      ("retainedObjects", .number(finding.retainedBlocks)),
      ("path", .array(finding.path.map(value))),
      ("places", .array(finding.places.map(value))),
      (
        "tests",
        .array(
          finding.origins.tests.map {
            .object([("name", .string($0.name)), ("instances", .integer(Int64($0.instances)))])
          })
      ),
      ("samples", .array(finding.origins.samples.map(value))),
      ("held", value(finding.held.types)),
      ("heldByEach", .bool(finding.held.isEqualForEach)),
      ("heldTogether", value(finding.held.together)),
      ("outliving", evidence.outliving),
      ("strongCount", .optional(evidence.count.map { UInt64($0.strong) })),
      ("unownedCount", .optional(evidence.count.map { UInt64($0.unowned) })),
      ("allocatedAt", evidence.ending.map { EvidenceJSON.value($0.allocated) } ?? .null),
      ("freedAt", evidence.ending.map { EvidenceJSON.value($0.freed) } ?? .null),
      ("usedAt", evidence.ending?.used.map(EvidenceJSON.value) ?? .null),
      ("endedType", .optional(evidence.ending?.qualifiedType)),
      ("uses", .optional(evidence.ending?.uses)),
      ("advice", .array(finding.advice.map { .string(AdviceWords.sentence($0)) })),
    ]
  }

  private static func fields(_ stacks: FindingStacks?) -> [(String, JSONValue)] {
    guard let stacks else { return [] }
    return [
      (
        "stacks",
        .array(stacks.allocations.map { .object([("instances", .integer(Int64($0.instances)))] + fields($0.stack)) })
      ),
      (
        "unreleased",
        .array(
          stacks.objects.map { object in
            .object([
              ("type", .string(object.type)), ("address", .address(object.address.rawValue)),
              ("references", object.references.map { .array($0.map(value)) } ?? .null),
            ])
          })
      ),
    ]
  }

  private static func value(_ reference: FindingStacks.Reference) -> JSONValue {
    .object(
      [("operation", .string(reference.operation.name)), ("count", .number(reference.count))] + fields(reference.stack))
  }

  private static func fields(_ stack: FindingStacks.Stack) -> [(String, JSONValue)] {
    [
      ("userFrame", stack.userFrame.map { .integer(Int64($0)) } ?? .null),
      ("stackEnd", .string(AllocationJSON.key(stack.end))),
      ("frames", .array(stack.frames.map(AllocationJSON.value))),
    ]
  }

  private static func value(_ held: [Finding.HeldType]) -> JSONValue {
    .array(
      held.map {
        .object([("type", .string($0.name)), ("count", .number($0.count)), ("bytes", .number($0.bytes.rawValue))])
      })
  }

  private static func value(_ subject: Finding.Subject) -> JSONValue {
    .object([
      ("type", .string(subject.type)), ("qualifiedType", .string(subject.qualifiedType)),
      ("count", .optional(subject.count)), ("isValue", .bool(subject.isValue)),
      ("function", .optional(subject.allocation?.function)), ("file", .optional(subject.allocation?.file)),
      ("line", subject.allocation?.line.map { .integer(Int64($0)) } ?? .null),
    ])
  }

  private static func value(_ sample: Finding.SampledPlace) -> JSONValue {
    .object([
      ("instances", .integer(Int64(sample.instances))), ("function", .optional(sample.place?.function)),
      ("file", .optional(sample.place?.file)), ("line", sample.place?.line.map { .integer(Int64($0)) } ?? .null),
    ])
  }

  /// Returns the fields for a function of the program: the caller of the package that made an object.
  private static func fields(own frame: SourceFrame?) -> [(String, JSONValue)] {
    [
      ("ownFunction", .optional(frame?.function)), ("ownFile", .optional(frame?.file)),
      ("ownLine", frame?.line.map { .integer(Int64($0)) } ?? .null),
    ]
  }

  static func fields(_ place: MarkPlace) -> [(String, JSONValue)] {
    [("name", .string(place.name)), ("file", .string(place.file)), ("line", .integer(Int64(place.line)))]
  }

  private static func value(_ scope: ScopeOutcome) -> JSONValue {
    .object(
      fields(scope.place) + [
        ("executions", .number(scope.executions)), ("open", .number(scope.open)), ("births", .number(scope.births)),
        ("executionsWithRest", .number(scope.executionsWithRest)),
      ])
  }

  private static func value(_ outcome: ExpectationOutcome) -> JSONValue {
    .object(
      fields(outcome.place) + [
        ("met", .number(outcome.met)), ("late", .number(outcome.late)), ("violated", .number(outcome.violated)),
        ("undecided", .number(outcome.undecided)), ("unknown", .number(outcome.unknown)),
      ])
  }

  private static func value(_ generation: Generation) -> JSONValue {
    .object([
      ("start", generation.start.map { .object(fields($0.place)) } ?? .null),
      ("objects", .number(generation.objects)),
      ("bytes", .number(generation.bytes.rawValue)),
      (
        "types",
        .array(
          generation.shares.map { share in
            .object([
              ("type", .string(share.type)), ("objects", .number(share.objects)),
              ("bytes", .number(share.bytes.rawValue)),
            ])
          })
      ),
    ])
  }

  private static func value(_ place: Finding.Place) -> JSONValue {
    let line: JSONValue = place.allocation?.line.map { .integer(Int64($0)) } ?? .null
    let fields: [(String, JSONValue)] = [
      ("function", .optional(place.allocation?.function)),
      ("file", .optional(place.allocation?.file)),
      ("line", line),
      ("instances", .integer(Int64(place.instances))),
      ("retainedBytes", .number(place.retainedBytes.rawValue)),
      ("retainedObjects", .number(place.retainedBlocks)),
      ("smallest", .number(place.smallest.rawValue)),
      ("largest", .number(place.largest.rawValue)),
    ]
    return .object(fields + self.fields(own: place.ownAllocation))
  }

  static func value(_ step: Finding.Step) -> JSONValue {
    let omitted: JSONValue = step.omittedBefore.map { .number(UInt64(max(0, $0))) } ?? .null
    let closureLine: JSONValue = step.function?.line.map { .integer(Int64($0)) } ?? .null
    let line: JSONValue = step.allocation?.line.map { .integer(Int64($0)) } ?? .null
    let edge: JSONValue = step.reference.map(value) ?? .null
    let fields: [(String, JSONValue)] = [
      ("type", .string(step.type)),
      ("qualifiedType", .string(step.qualifiedType)),
      ("omittedBefore", omitted),
      ("kind", .string(step.kind.key)),
      ("closure", .optional(step.function?.function)),
      ("closureFile", .optional(step.function?.file)),
      ("closureLine", closureLine),
      ("function", .optional(step.allocation?.function)),
      ("file", .optional(step.allocation?.file)),
      ("line", line),
      ("address", .address(step.address.rawValue)),
      ("size", .number(step.size.rawValue)),
      ("library", .optional(step.library)),
      ("edge", edge),
    ]
    return .object(fields + self.fields(own: step.ownAllocation))
  }

  private static func value(_ reference: Finding.Reference) -> JSONValue {
    .object([
      ("name", .string(reference.name)),
      ("strength", .string(reference.strength.key)),
      ("isClosure", .bool(reference.isClosure)),
      ("isCapture", .bool(reference.isCapture)),
      ("capturesSelf", .bool(reference.capturesSelf)),
      ("case", .optional(reference.caseName)),
      ("closure", .optional(reference.closure?.function)),
      ("closureFile", .optional(reference.closure?.file)),
      ("closureLine", reference.closure?.line.map { .integer(Int64($0)) } ?? .null),
    ])
  }
}
