// Chooses the one change that enables a feature.

import Glibc
import ProcessAttachment
import ProcessInspection
import TraceRecording

/// Chooses the smallest change that removes an obstacle. An option is smaller than a command, and a command is smaller
/// than a system setting.
struct RemedyJudgement {
  private let facts: CheckedFacts
  private var machine: MachineFacts { facts.machine }

  init(_ facts: CheckedFacts) { self.facts = facts }

  func remedy(for obstacle: Obstacle, _ feature: Feature) -> Remedy? {
    switch obstacle {
    case .otherProcessor: return .otherMachine
    // leaktrace itself does not run where the recorder does not.
    case .cLibrary: return feature == .attach ? nil : .otherMachine
    case .recorderMissing, .recorderUnusable: return .setLibraryPath
    case .directory(let path, let code): return directoryRemedy(path, code, feature)
    case .directoryForbidsCode(let path): return .allowCode(path: path)
    case .mirrorMissing, .mirrorUnusable: return .installSwift
    case .tracing(let obstacle): return TracingJudgement(machine, facts.target).remedy(for: obstacle)
    case .filtered: return feature == .inspect ? .hold : filterRemedy
    case .unreadableFilter: return facts.target?.filter == .strict ? nil : filterRemedy
    case .trial(let failure): return trialRemedy(failure)
    case .noImage: return machine.filter == .none ? nil : .allowCalls
    case .unsuitable(let reason): return unsuitableRemedy(reason)
    case .notJoinable(let reason): return joinRemedy(reason)
    case .notStartable(.untraceable(_, .staticallyLinked)): return .linkDynamically
    case .notStartable(.untraceable(_, .sharedSanitizer)): return .buildWithoutSanitizer
    case .notStartable(.untraceable(_, .privileged(let privilege))):
      return privilege == .fileCapabilities ? .copyWithoutCapabilities : .copyWithoutBit
    case .notStartable: return nil
    case .allocatorInside: return .linkSharedAllocator
    case .sanitizer: return .buildWithoutSanitizer
    case .noSwift:
      return feature != .fieldNames && FeatureJudgement(facts).verdict(for: .attach).works ? .attach : nil
    case .recordsAlready: return .snapshot
    case .coresOff: return facts.target == nil ? .useGcore : .allowCores
    case .coreFilter: return .setCoreFilter
    case .coreOfUndumpable: return machine.isRoot ? .useGcore : .runAsRoot
    case .noDebugInformation(_, let buildID), .fileMissing(_, let buildID), .otherBuild(_, let buildID):
      return .giveDebugFiles(buildID: buildID)
    case .fileUnreadable(_, let code):
      guard code == EACCES || code == EPERM else { return nil }
      return machine.container == .none ? .runAsRoot : .addTracing
    }
  }

  private func directoryRemedy(_ path: String, _ code: Int32, _ feature: Feature) -> Remedy {
    // The recorder's copy and its messages always go to this directory, by its path in the process's view of files.
    if feature == .attach, path == facts.target?.temporaryDirectory?.path ?? "/tmp" {
      return .makeWritable(path: path)
    }
    return .chooseDirectory
  }

  /// Filters can be read and suspended only with CAP_SYS_ADMIN, and only by a process without a filter.
  private var filterRemedy: Remedy {
    if machine.container != .none { return .addAdministration }
    return machine.isRoot || machine.cannotGainRights ? .inspectOutside : .runAsRoot
  }

  private func trialRemedy(_ failure: TrialFailure) -> Remedy? {
    switch failure {
    case .recording(.libraryNotFound), .recording(.libraryUnusable), .libraryMissing, .notLoaded: return .setLibraryPath
    case .message(let text) where text.contains("cannot create") || text.contains("cannot write"):
      return .chooseDirectory
    default: return machine.filter == .none ? nil : .allowCalls
    }
  }

  private func unsuitableRemedy(_ reason: InspectionError.Unsuitability) -> Remedy? {
    switch reason {
    case .traced(let tracer): .endTracer(tracer)
    case .firstThreadEnded: .recordInstead
    case .ended, .kernelThread, .otherMachine: nil
    }
  }

  private func joinRemedy(_ reason: AttachmentError.Unsuitability) -> Remedy? {
    switch reason {
    case .static: .linkDynamically
    case .stopped: .resume
    case .shadowStack, .processor, .unloaded, .missingFunctions: .recordInstead
    case .noAllocator: .linkSharedAllocator
    case .go, .java, .otherLibrary: nil
    case .filtered, .forbidden: filterRemedy
    }
  }
}
