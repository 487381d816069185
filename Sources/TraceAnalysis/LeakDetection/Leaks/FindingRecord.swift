// A finding in the form that digests store.

import HeapAnalysis
import TraceReading
import TraceSymbolication

/// The keys of a finding in a file. They stay as earlier versions wrote them, even if the structure of `Finding`
/// changes. Many keys exist only for some verdicts.
package struct FindingRecord: Codable, Sendable {
  var verdict: Verdict
  var taskWait: TaskWait?
  var way: Finding.Way?
  var libraryReason: String?
  /// Nil in digests of earlier versions.
  var hasUnknownOwner: Bool?
  var isCycle: Bool
  var instances: Int
  var retainedBytes: ByteCount
  var retainedBlocks: UInt64
  var path: [Finding.Step]
  /// Nil in digests of earlier versions.
  var places: [Finding.Place]?
  var subject: Finding.Subject?
  var held: [Finding.HeldType]
  /// Nil in digests of earlier versions.
  var isHeldByEach: Bool?
  var heldTogether: [Finding.HeldType]?
  var referenceCount: ReferenceCount?
  var ending: Finding.Ending?
  var outliving: SurvivorEvidence?
  var advice: [String]
  var fingerprint: String
  var suppression: String?
  /// Nil in digests of earlier versions.
  var stacks: [Finding.StackShare]?
  /// Nil in digests of earlier versions.
  var tests: [Finding.TestShare]?
  /// Nil in digests of earlier versions.
  var samples: [Finding.SampledPlace]?

  /// Facts about reachable objects.
  struct SurvivorEvidence: Codable, Sendable {
    var statement: Statement?
    var snapshot: UInt32?
    var origin: PathOrigin
    var holder: String
    var ownHolder: String?
    var registration: Finding.Registration?
    var isBeyondReach: Bool?
    /// Nil in digests of earlier versions.
    var letGo: SourceFrame?
    var isCancelled: Bool?
    var end: Finding.CommonEnd?
    var isMadeInSeveralPlaces: Bool?
    var suspect: Int
    var births: UInt64
    var deaths: UInt64
    var scope: SourceFrame?
    var scopeShare: Int
    var siblingLifetime: Double?
    var youngest: Double?
    var oldest: Double?
    var growth: [Int]
    var evidence: Finding.Figures?
  }

  enum Statement: Codable, Sendable {
    case scope(MarkPlace, executions: UInt64, executionsWithRest: UInt64, grace: Double?)
    case expectation(MarkPlace, met: UInt64, late: UInt64, violated: UInt64, longestDelay: Double?)
    case repetition(MarkPlace, firstRound: Int, of: Finding.RoundMeasure)
    case images(Int, seconds: Double, lateShare: Double, of: Finding.RoundMeasure)
  }
}

// MARK: From files

extension FindingRecord {
  /// The finding; nil if the record lacks the facts of its verdict. Facts of other verdicts are ignored.
  package var finding: Finding? {
    evidence.map { evidence in
      Finding(
        evidence: evidence, owner: owner, instances: instances, retainedBytes: retainedBytes,
        retainedBlocks: retainedBlocks, path: path, places: places ?? [], subject: subject,
        held: Finding.Held(types: held, isEqualForEach: isHeldByEach ?? true, together: heldTogether ?? []),
        advice: advice.map { .sentence($0) }, fingerprint: fingerprint, suppression: suppression,
        origins: Finding.Origins(stacks: stacks ?? [], tests: tests ?? [], samples: samples ?? []))
    }
  }

  fileprivate var owner: Finding.Owner {
    if hasUnknownOwner == true { return .unknown }
    return libraryReason.map { .library(reason: $0) } ?? .program
  }

  /// Nil if the record has no facts for the verdict.
  fileprivate var evidence: Finding.Evidence? {
    switch verdict {
    case .retainCycle: .unreachable(.cycle, way: way)
    case .lost: .unreachable(.lost(referenceCount), way: way)
    case .suspended: .unreachable(.suspended(isCycle ? .inCycle : .alone(taskWait)), way: way)
    case .deinitialised: .deinitialised(referenceCount)
    case .dangling: .dangling(ending)
    case .outlived: outliving?.evidence(.outlived)
    case .accumulating: outliving?.evidence(.accumulating)
    case .growing: outliving?.growing
    }
  }
}

extension FindingRecord.SurvivorEvidence {
  fileprivate func evidence(_ kind: Finding.Suspicion.Kind) -> Finding.Evidence? {
    let survivors = Finding.Survivors(retention: retention, siblings: siblings, quarters: growth)
    switch statement {
    case nil: return .suspected(Finding.Suspicion(kind: kind, figures: evidence), survivors)
    case .scope(let place, let executions, let withRest, let grace)?:
      let scope = Finding.ScopeRest(
        place: place, executions: executions, executionsWithRest: withRest, grace: grace)
      return .stated(.scope(scope), survivors)
    case .expectation(let place, let met, let late, let violated, let delay)?:
      let expectation = Finding.BrokenExpectation(
        place: place, met: met, late: late, violated: violated, longestDelay: delay)
      return .stated(.expectation(expectation), survivors)
    case .repetition?, .images?: return nil
    }
  }

  fileprivate var growing: Finding.Evidence? {
    switch statement {
    case .repetition(let place, let first, let measure)?:
      let rounds = Finding.Rounds(place: place, first: first, measure: measure, counts: growth)
      return .repeated(rounds, retention, siblings)
    case .images(let images, let seconds, let lateShare, let measure)?:
      let growth = Finding.ImageGrowth(
        images: images, seconds: seconds, lateShare: lateShare, measure: measure, counts: growth,
        strength: evidence?.strength ?? .strong)
      return .images(growth, retention)
    case .scope?, .expectation?, nil: return nil
    }
  }

  private var retention: Finding.Retention {
    Finding.Retention(
      origin: origin, holder: holder, ownHolder: ownHolder, registration: registration, isBeyondReach: isBeyondReach,
      letGo: letGo, isCancelled: isCancelled, end: end, isMadeInSeveralPlaces: isMadeInSeveralPlaces, suspect: suspect,
      snapshot: snapshot,
      ages: youngest.flatMap { youngest in oldest.map { Finding.Ages(youngest: youngest, oldest: $0) } })
  }

  private var siblings: Finding.Siblings {
    Finding.Siblings(
      births: births, deaths: deaths, scope: scope, scopeShare: scopeShare, lifetime: siblingLifetime)
  }
}

// MARK: To files

extension FindingRecord {
  /// - Parameters:
  ///   - advice: The advice of the finding, in sentences.
  ///   - ownerReason: The reason why the finding does not count as the program's.
  package init(_ finding: Finding, advice: [String], ownerReason: String?) {
    verdict = finding.verdict
    (libraryReason, hasUnknownOwner) = (ownerReason, finding.owner == .unknown)
    isCycle = finding.evidence.isCycle
    (instances, retainedBytes, retainedBlocks) = (finding.instances, finding.retainedBytes, finding.retainedBlocks)
    (path, places, subject) = (finding.path, finding.places, finding.subject)
    (held, isHeldByEach) = (finding.held.types, finding.held.isEqualForEach)
    heldTogether = finding.held.together.isEmpty ? nil : finding.held.together
    (self.advice, fingerprint, suppression) = (advice, finding.fingerprint, finding.suppression)
    (stacks, tests, samples) = (finding.origins.stacks, finding.origins.tests, finding.origins.samples)
    switch finding.evidence {
    case .unreachable(let kind, let way):
      self.way = way
      switch kind {
      case .cycle: break
      case .lost(let count): referenceCount = count
      case .suspended(let suspension): if case .alone(let wait) = suspension { taskWait = wait }
      }
    case .deinitialised(let count): referenceCount = count
    case .dangling(let ending): self.ending = ending
    case .suspected(let suspicion, let survivors):
      outliving = SurvivorEvidence(survivors)
      outliving?.evidence = suspicion.figures
    case .stated(let statement, let survivors):
      outliving = SurvivorEvidence(survivors)
      outliving?.statement = Statement(statement)
    case .repeated(let rounds, let retention, let siblings):
      outliving = SurvivorEvidence(retention, siblings, growth: rounds.counts)
      outliving?.statement = .repetition(rounds.place, firstRound: rounds.first, of: rounds.measure)
    case .images(let growth, let retention):
      // Growth between heap images has no history of siblings.
      outliving = SurvivorEvidence(
        retention, Finding.Siblings(births: 0, deaths: 0, scopeShare: 0), growth: growth.counts)
      outliving?.statement = .images(
        growth.images, seconds: growth.seconds, lateShare: growth.lateShare, of: growth.measure)
      outliving?.evidence = Finding.Figures(strength: growth.strength, live: [])
    }
  }
}

extension FindingRecord.SurvivorEvidence {
  fileprivate init(_ survivors: Finding.Survivors) {
    self.init(survivors.retention, survivors.siblings, growth: survivors.quarters)
  }

  fileprivate init(_ retention: Finding.Retention, _ siblings: Finding.Siblings, growth: [Int]) {
    self.init(
      snapshot: retention.snapshot, origin: retention.origin, holder: retention.holder,
      ownHolder: retention.ownHolder, registration: retention.registration, isBeyondReach: retention.isBeyondReach,
      letGo: retention.letGo, isCancelled: retention.isCancelled, end: retention.end,
      isMadeInSeveralPlaces: retention.isMadeInSeveralPlaces, suspect: retention.suspect,
      births: siblings.births,
      deaths: siblings.deaths, scope: siblings.scope, scopeShare: siblings.scopeShare,
      siblingLifetime: siblings.lifetime, youngest: retention.ages?.youngest, oldest: retention.ages?.oldest,
      growth: growth)
  }
}

extension FindingRecord.Statement {
  fileprivate init(_ statement: Finding.Statement) {
    switch statement {
    case .scope(let scope):
      self = .scope(
        scope.place, executions: scope.executions, executionsWithRest: scope.executionsWithRest, grace: scope.grace)
    case .expectation(let expectation):
      self = .expectation(
        expectation.place, met: expectation.met, late: expectation.late, violated: expectation.violated,
        longestDelay: expectation.longestDelay)
    }
  }
}
