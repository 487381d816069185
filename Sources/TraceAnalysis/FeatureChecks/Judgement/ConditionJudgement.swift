// The conditions for a feature without an obstacle.

extension FeatureJudgement {
  func conditions(of feature: Feature) -> [FeatureCondition] {
    var found: [FeatureCondition] = []
    switch feature {
    case .record, .light:
      if let target = facts.target {
        found.append(.atNextStart)
        if target.program == nil { found.append(.ifProgramSuits) }
      }
    case .snapshot:
      if let target = facts.target, case .runs = target.recording {
      } else if facts.target != nil {
        found.append(.onceRecorded)
      }
    case .attach:
      if case .runs(let path, _)? = facts.target?.recording { found.append(.onceDetached(tracePath: path)) }
      if facts.target?.filter == .filter { found.append(.ifFilterAllows) }
    case .inspect, .watch:
      if let name = unreadAllocator { found.append(.withoutBlocks(allocator: name)) }
    case .coreFiles:
      if facts.target == nil, !machine.cores.isTakenByProgram, machine.cores.sizeLimit == 0 {
        found.append(.onceWritten(byGcore: machine.cores.hasGcore))
      } else if let target = facts.target, target.coreSizeLimit == 0, !machine.cores.isTakenByProgram {
        found.append(.onceWritten(byGcore: true))
      }
    case .fieldNames: break
    case .sourceLines:
      if facts.target == nil || facts.target?.checkedFiles == 0 { found.append(.withDebugInformation) }
    }
    if feature.needsRecorder, let free = traceDirectory(feature).freeBytes, free < Self.roomForTrace {
      found.append(.littleRoom(bytes: free))
    }
    if [.attach, .snapshot].contains(feature), facts.target?.seesProcesses == false { found.append(.withoutImages) }
    if takesImages(feature), let group = groupMemory, group.share > Self.tightMemory {
      found.append(.littleMemory(used: group.used, limit: group.limit))
    }
    return found
  }

  private func takesImages(_ feature: Feature) -> Bool { feature.needsRecorder || feature.needsTracing }

  private var groupMemory: (used: UInt64, limit: UInt64, share: Double)? {
    let group = facts.target == nil ? machine.groupMemory : facts.target?.memory?.group
    return group.map { ($0.used, $0.limit, $0.share) }
  }

  private func traceDirectory(_ feature: Feature) -> DirectoryFacts {
    if feature == .attach || feature == .snapshot, let directory = facts.target?.traceDirectory { return directory }
    return installation.output
  }

  /// The sanitizer, whose allocator an inspection cannot read. For another allocator, that depends on the allocator's
  /// version, which only its memory shows.
  private var unreadAllocator: String? {
    facts.target?.sanitizer
  }
}
