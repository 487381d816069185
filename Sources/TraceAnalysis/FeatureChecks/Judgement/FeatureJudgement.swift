// Decides from facts alone which features work.

import Glibc
import ProcessAttachment
import ProcessInspection
import TextWriting
import TraceReading
import TraceRecording

/// All facts of a check. A plain value, so that a test can describe any machine.
package struct CheckedFacts: Hashable, Sendable {
  package var machine: MachineFacts
  var installation: InstallationFacts
  var trials: TrialFacts
  /// The checked process; nil if none was named.
  package var target: TargetFacts?

  package init(
    machine: MachineFacts = MachineFacts(), installation: InstallationFacts = InstallationFacts(),
    trials: TrialFacts = TrialFacts(), target: TargetFacts? = nil
  ) {
    (self.machine, self.installation, self.trials, self.target) = (machine, installation, trials, target)
  }
}

/// Judges each feature from the facts. Reads nothing else.
package struct FeatureJudgement {
  let facts: CheckedFacts
  var machine: MachineFacts { facts.machine }
  var installation: InstallationFacts { facts.installation }
  var trials: TrialFacts { facts.trials }

  package init(_ facts: CheckedFacts) { self.facts = facts }

  /// The names of supported processors, as `uname -m` prints them.
  static let processors: Set<String> = ["x86_64", "aarch64"]
  /// Minor versions of glibc 2. The recorder was tested with all of them.
  package static let cLibraries = 31...43
  /// The amount of free space below which the check reports too little room. It is enough for about 200 million events.
  static let roomForTrace: UInt64 = 64 << 20
  /// Maximum share of the control group's memory in use. Above this share, a heap image may not fit.
  static let tightMemory = 0.9

  /// Returns the verdicts, in the order of `features`.
  package func verdicts(for features: [Feature]) -> [FeatureVerdict] { features.map(verdict) }

  package func verdict(for feature: Feature) -> FeatureVerdict {
    if let obstacle = systemObstacle(feature) { return verdict(feature, obstacle) }
    let obstacle: Obstacle?
    switch feature {
    case .record, .light: obstacle = recordObstacle(feature)
    case .snapshot: obstacle = snapshotObstacle
    case .attach: obstacle = attachObstacle
    case .inspect, .watch: obstacle = inspectObstacle
    case .coreFiles: obstacle = coreObstacle
    case .fieldNames: obstacle = fieldObstacle
    case .sourceLines: obstacle = lineObstacle
    }
    if let obstacle { return verdict(feature, obstacle) }
    let conditions = conditions(of: feature)
    return FeatureVerdict(feature, conditions.isEmpty ? .works : .conditional(conditions))
  }

  private func verdict(_ feature: Feature, _ obstacle: Obstacle) -> FeatureVerdict {
    FeatureVerdict(feature, .fails(obstacle), RemedyJudgement(facts).remedy(for: obstacle, feature))
  }

  private func systemObstacle(_ feature: Feature) -> Obstacle? {
    guard feature.needsRecorder || feature.needsTracing else { return nil }
    if !Self.processors.contains(machine.processor) { return .otherProcessor(machine.processor) }
    // A checked process may be in a container with its own C library.
    if feature.needsRecorder, facts.target == nil {
      guard let version = machine.cLibrary else { return .cLibrary(nil) }
      if version < Self.cLibraries.lowerBound { return .cLibrary(version) }
    }
    return nil
  }

  // MARK: With the recorder

  private var recorderObstacle: Obstacle? {
    switch installation.recorder.failure {
    case nil: nil
    case .recording(.libraryNotFound(let searched)): .recorderMissing(searched: searched)
    case .recording(.libraryUnusable(let path, let reason)): .recorderUnusable(path: path, reason: reason)
    case let failure?: .trial(failure)
    }
  }

  private var outputObstacle: Obstacle? {
    installation.output.writeError == 0
      ? nil : .directory(path: installation.output.path, errno: installation.output.writeError)
  }

  private func recordObstacle(_ feature: Feature) -> Obstacle? {
    if let obstacle = recorderObstacle ?? outputObstacle { return obstacle }
    let trial = feature == .light ? trials.light : trials.record
    if let failure = trial.failure { return self.trial(failure) }
    if let trial = trial.value, !trial.hasImage { return .noImage }
    guard let target = facts.target else { return nil }
    if let obstacle = targetObstacle(target) { return obstacle }
    if let error = target.startObstacle { return .notStartable(error) }
    if target.allocator == .inside { return target.sanitizer.map { .sanitizer($0) } ?? .allocatorInside }
    return nil
  }

  private var snapshotObstacle: Obstacle? {
    guard let target = facts.target else {
      if let obstacle = recorderObstacle ?? outputObstacle { return obstacle }
      return trials.snapshot.failure.map(trial)
    }
    // A recorded process takes heap images on request, and needs no tracing for that.
    if case .runs = target.recording { return nil }
    return attachObstacle
  }

  // MARK: From outside

  /// Returns why this process cannot access the checked process at all.
  private func targetObstacle(_ target: TargetFacts) -> Obstacle? {
    switch target.unsuitability {
    // A tracer prevents nothing here: it does not trace the next start of the program.
    case .traced, nil: nil
    case let reason?: .unsuitable(reason)
    }
  }

  private var tracingObstacle: Obstacle? {
    if let reason = facts.target?.unsuitability { return .unsuitable(reason) }
    let judgement = TracingJudgement(machine, facts.target)
    for failure in [trials.seize.failure, trials.read.failure] {
      if case .system(let code)? = failure { return .tracing(judgement.obstacle(errno: code)) }
    }
    return nil
  }

  private var attachObstacle: Obstacle? {
    if let obstacle = recorderObstacle { return obstacle }
    guard let target = facts.target else { return outputObstacle ?? trialObstacle(trials.attach.failure) }
    if let obstacle = tracingObstacle { return obstacle }
    if let reason = target.joinObstacle { return .notJoinable(reason) }
    if let version = target.cLibrary, version < Self.cLibraries.lowerBound { return .cLibrary(version) }
    if case .runs(let path, isAttached: false) = target.recording { return .recordsAlready(tracePath: path) }
    if target.filter == .strict || target.filter == .filter && !machine.maySuspendFilters { return .unreadableFilter }
    for directory in [target.temporaryDirectory, target.traceDirectory].compactMap({ $0 })
    where directory.writeError != 0 {
      return .directory(path: directory.path, errno: directory.writeError)
    }
    if target.loadsCopy, let directory = target.temporaryDirectory, directory.forbidsCode {
      return .directoryForbidsCode(path: directory.path)
    }
    return nil
  }

  private var inspectObstacle: Obstacle? {
    guard let target = facts.target else { return trialObstacle(trials.inspect.failure) }
    if let obstacle = tracingObstacle { return obstacle }
    if let reason = target.joinObstacle, [.go, .java].contains(reason) { return .notJoinable(reason) }
    if !target.hasSwift { return .noSwift }
    return target.filter != .none && !machine.maySuspendFilters ? .filtered : nil
  }

  /// Returns the obstacle that a failed attempt with a child of this process shows.
  private func trialObstacle(_ failure: TrialFailure?) -> Obstacle? {
    switch failure {
    case nil: return nil
    case .inspection(.processRefused(_, let code))?, .attachment(.inspection(.processRefused(_, let code)))?:
      return .tracing(TracingJudgement(machine, nil).obstacle(errno: code))
    case .inspection(.cannotCopy(_, .filtered, _))?: return .filtered
    case .attachment(.unsuitable(_, .filtered))?: return .unreadableFilter
    case .attachment(.noDirectory(_, let path, let code))?: return .directory(path: path, errno: code)
    case .attachment(.refused(_, let reason))?: return trial(.message(reason))
    case let failure?: return trial(failure)
    }
  }

  /// Returns the obstacle for a failed attempt that writes files. The recorder reports a full disk only in its message.
  private func trial(_ failure: TrialFailure) -> Obstacle {
    let full: Bool =
      switch failure {
      case .system(ENOSPC): true
      case .message(let text): text.hasSuffix(systemErrorText(ENOSPC))
      default: false
      }
    return full ? .directory(path: installation.output.path, errno: ENOSPC) : .trial(failure)
  }

  // MARK: Files

  private var coreObstacle: Obstacle? {
    guard let target = facts.target else { return nil }
    if let obstacle = targetObstacle(target) { return obstacle }
    if target.isHidden { return .tracing(.hidden) }
    if !target.isDumpable { return .coreOfUndumpable }
    // Bit 0: anonymous private memory, which includes the heap.
    if let kinds = target.coreFilter, kinds & 1 == 0 { return .coreFilter(kinds) }
    // A limit of 0 prevents only core files. A program that receives cores gets them regardless of the limit (core(5)).
    if target.coreSizeLimit == 0, !machine.cores.isTakenByProgram, !(machine.cores.hasGcore && tracingObstacle == nil) {
      return .coresOff
    }
    return nil
  }

  private var fieldObstacle: Obstacle? {
    switch installation.mirror.failure {
    case nil: break
    case .libraryMissing(let searched): return .mirrorMissing(searched: searched)
    case .message(let reason): return .mirrorUnusable(path: "libswiftRemoteMirror.so", reason: reason)
    case let failure?: return .trial(failure)
    }
    guard let target = facts.target else { return nil }
    if let obstacle = viewObstacle { return obstacle }
    return target.hasSwift ? fileObstacle(target, isAboutLines: false) : .noSwift
  }

  private var lineObstacle: Obstacle? { viewObstacle ?? facts.target.flatMap { fileObstacle($0, isAboutLines: true) } }

  /// Returns the reason why this process cannot see the checked process's files. A tracer does not prevent that.
  private var viewObstacle: Obstacle? {
    if let target = facts.target, let obstacle = targetObstacle(target) { return obstacle }
    if facts.target?.isHidden == true { return .tracing(.hidden) }
    guard case .system(let code)? = trials.read.failure else { return nil }
    return .tracing(TracingJudgement(machine, facts.target).obstacle(errno: code))
  }

  /// Returns the obstacle for the first of the program's files that cannot be used.
  private func fileObstacle(_ target: TargetFacts, isAboutLines: Bool) -> Obstacle? {
    for problem in target.fileProblems {
      switch problem.reason {
      case .fileMissing: return .fileMissing(path: problem.imagePath, buildID: problem.buildID)
      case .buildIDMismatch: return .otherBuild(path: problem.file ?? problem.imagePath, buildID: problem.buildID)
      case .unreadable(.system(let code)):
        return .fileUnreadable(path: problem.file ?? problem.imagePath, errno: code)
      case .unreadable: return .fileUnreadable(path: problem.file ?? problem.imagePath, errno: nil)
      case .noSymbols where isAboutLines, .noDebugInformation where isAboutLines:
        return .noDebugInformation(path: problem.imagePath, buildID: problem.buildID)
      case .noSymbols, .noDebugInformation, .unverified: continue
      }
    }
    return nil
  }
}
