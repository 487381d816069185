// Chooses the advice for a finding.

import TraceSymbolication

extension Advice {
  /// Returns advice for a finding by its path, most likely first. `evidence`: further facts about the objects.
  static func advice(for finding: Finding, _ evidence: AdviceEvidence = .none) -> [Advice] {
    switch finding.owner {
    case .unknown: return [.recordFromStart]
    case .library:
      let hasCaptured = finding.held.types.contains {
        !$0.name.hasPrefix("[") && $0.name != "malloc" && $0.name != "closure"
      }
      return hasCaptured ? [.captureWeaklyForLibrary] : []
    case .program: break
    }
    switch finding.evidence {
    case .unreachable(.cycle, _): return CycleAdvice(finding, evidence).advice
    case .unreachable(.suspended(let suspension), _):
      return [.task(change(of: finding, suspension, evidence))] + (givenUp(finding, evidence).map { [.task($0)] } ?? [])
    case .unreachable(.lost, _): return lost(finding, evidence).map { .lost($0) }
    case .deinitialised: return [.unowned(unowned(finding))]
    case .dangling(let ending): return [.pointer(pointer(finding, ending))]
    case .suspected, .stated, .repeated, .images:
      return SurvivorAdvice(finding, evidence)?.changes.map { .held($0) } ?? []
    }
  }

  // MARK: Tasks

  private static func change(of finding: Finding, _ suspension: Finding.Suspension, _ evidence: AdviceEvidence)
    -> TaskChange
  {
    let place = finding.path.first?.code
    switch suspension {
    case .alone(.end?): return .endAwaited(at: place)
    case .alone(nil): return .resume(at: place, isJobPossible: true)
    case .alone: return .resume(at: place, isJobPossible: false)
    case .inCycle: return .breakCycle(at: place, stream: stream(of: finding), cut(of: finding, evidence))
    }
  }

  /// Returns the line that released the object that could have resumed the task. Nil if the line is in the task's code,
  /// or in the function that started the task.
  private static func givenUp(_ finding: Finding, _ evidence: AdviceEvidence) -> TaskChange? {
    guard let task = finding.path.first,
      let place = evidence.lastRelease(ofResumerOf: task.address)?.place, place.kind == .user,
      place.function != task.code?.function, place.function != task.place?.function
    else { return nil }
    return .givenUp(at: place)
  }

  private static func cut(of finding: Finding, _ evidence: AdviceEvidence) -> TaskCut {
    let cut = CycleCut(finding, evidence)
    if let capture = cut.capture, case .directly = capture.how, finding.path[capture.target].kind == .object {
      var end = TaskEnd.cancelOrFinishAwaited
      if let field = cut.names.field(of: capture.target), let next = cut.names.next(capture.target) {
        if finding.path[next].kind == .task { end = .cancel(field) }
        if SourceNames.plain(finding.path[next].type).hasSuffix("Stream._Storage") { end = .finish(field) }
      }
      return .capture(cut.weakCapture(capture), then: end)
    }
    // The path may lead through the stream only, while the closure also captures the stream's owner.
    for step in finding.path where step.kind == .closure && CycleCut.isProgram(step.function) {
      guard let function = step.function, let type = evidence.programTypes(referredToBy: step.address).first else {
        continue
      }
      let capture = WeakCapture(
        variable: function.isMethod(of: type) ? "self" : nil, type: type, site: .closure(function))
      return .capture(capture, then: .cancelOrFinishStream)
    }
    // A variable of the task keeps the object, such as the variable of a `guard let self` before a loop.
    if let index = finding.path.indices.dropFirst().first(where: {
      finding.path[$0].kind == .object && finding.path[$0].library == nil
    }),
      [.task, .malloc].contains(finding.path[index - 1].kind)
    {
      return .variable(type: SourceNames.plain(finding.path[index].type))
    }
    // Otherwise the path leads through the task's own memory. If a method of an object that the task keeps started the
    // task, the task's closure captured the object as `self`.
    if let start = finding.path.first?.place, start.kind == .user, start.line != nil,
      let type = finding.held.types.first(where: { start.isMethod(of: SourceNames.plain($0.name)) })
    {
      let capture = WeakCapture(variable: "self", type: SourceNames.plain(type.name), site: .started(by: start))
      return .capture(capture, then: .cancelOrFinishStream)
    }
    return .unknown
  }

  /// The field that leads to the stream on a path; nil if there is none.
  private static func stream(of finding: Finding) -> String? {
    let names = SourceNames(finding)
    for index in finding.path.indices where SourceNames.plain(finding.path[index].type).hasSuffix("Stream._Storage") {
      if let before = names.previous(index), let field = names.field(of: before) { return field }
    }
    return nil
  }

  // MARK: References to ended objects

  private static func unowned(_ finding: Finding) -> UnownedChange {
    let names = SourceNames(finding)
    let index = finding.path.count - 2
    guard index >= 0 else { return .unknown }
    let holder = finding.path[index]
    let type = SourceNames.plain(finding.path[index + 1].type)
    if holder.kind == .closure {
      let name = holder.reference?.name ?? ""
      let capture = WeakCapture(
        variable: SourceNames.isWord(name) ? name : nil, type: type, site: .closure(holder.function))
      return .capture(capture, field: index > 0 ? names.field(of: index - 1) : nil)
    }
    return .field(
      names.elementField(of: index) ?? names.field(of: index), type: type,
      owner: holder.kind == .object ? SourceNames.plain(holder.type) : nil)
  }

  private static func pointer(_ finding: Finding, _ ending: Finding.Ending?) -> PointerChange {
    let names = SourceNames(finding)
    let slot = finding.path.first.flatMap { step in Self.slot(of: step, names) }
    guard let ending, let used = ending.used else { return .clear(slot) }
    if let slot { return .clearUsed(slot, type: ending.type, usedAt: used.frame) }
    return .unregister(type: ending.type, usedAt: used.frame, freedAt: ending.freed.frame)
  }

  /// Returns the field of the first step's reference; nil if the step has no named reference.
  private static func slot(of step: Finding.Step, _ names: SourceNames) -> Slot? {
    guard let name = step.reference?.name else { return nil }
    if let field = names.elementField(of: 0) ?? names.field(of: 0) { return .field(field) }
    guard SourceNames.isWord(name) else { return .unnamed(in: SourceNames.plain(step.type)) }
    return .field(step.kind == .object ? "\(SourceNames.plain(step.type)).\(name)" : name)
  }

  // MARK: Lost

  private static func lost(_ finding: Finding, _ evidence: AdviceEvidence) -> [LostChange] {
    guard let step = finding.path.first else { return [] }
    let path = evidence.siblings(of: step.address).map {
      LostChange.lookForPath(made: $0.made, freed: $0.freed, isMemory: step.kind == .malloc)
    }
    return [lost(step, finding, evidence)] + (path.map { [$0] } ?? [])
  }

  private static func lost(_ step: Finding.Step, _ finding: Finding, _ evidence: AdviceEvidence) -> LostChange {
    if step.kind == .task { return .balanceTask }
    if step.kind == .malloc {
      // Freeing the memory does not release the objects in it.
      let objects = finding.held.types.filter { !$0.name.hasPrefix("[") && $0.name.first?.isUppercase == true }
      return .free(allocatedAt: step.place?.kind == .user ? step.place : nil, objects: objects)
    }
    guard let open = evidence.openReference(of: step.address), open.place != nil else {
      return .findRetain(hasHistory: step.kind == .object && evidence.hasHistory)
    }
    return .release(
      type: step.kind == .object ? SourceNames.plain(step.type) : nil, isAllocation: open.isAllocation,
      at: open.isAllocation ? step.place ?? open.place : open.place)
  }
}
