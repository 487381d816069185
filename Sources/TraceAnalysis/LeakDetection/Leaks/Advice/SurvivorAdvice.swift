// Advice for objects that reachable memory still keeps.

import TraceSymbolication

/// Names the place to release the objects, and the capture to make weak so that this release is enough.
struct SurvivorAdvice {
  private let finding: Finding
  private let retention: Finding.Retention
  private let object: Finding.Step
  private let names: SourceNames
  private let cut: CycleCut
  private let evidence: AdviceEvidence

  init?(_ finding: Finding, _ evidence: AdviceEvidence) {
    guard let retention = finding.evidence.retention, let object = finding.path.last else { return nil }
    (self.finding, self.retention, self.object) = (finding, retention, object)
    names = SourceNames(finding)
    cut = CycleCut(finding, evidence)
    self.evidence = evidence
  }

  /// The changes, most likely first.
  var changes: [Advice.HolderChange] {
    guard let registration = retention.registration else { return [held] }
    let type = SourceNames.plain(finding.subject?.type ?? object.type)
    switch registration {
    case .taskGroup: return [.drain(retention.holder)]
    // The registration keeps only the closure, and the closure keeps no object of the program.
    case _ where object.kind == .closure: return [.endClosure(registration)]
    case .task: return task(type)
    case .eventLoop, .urlSession, .thread: return [.end(registration, type: type)]
    case .timer, .observer, .observation, .dispatchSource, .fileHandle, .dispatchWork:
      return [.endAndCapture(registration, type: type, weakCapture)]
    }
  }

  /// Advice for objects that a library holds by memory of unknown type.
  static func ofLibrary(_ finding: Finding, hasTimers: Bool) -> Advice {
    let type = finding.path.last.map { SourceNames.plain($0.type) } ?? "object"
    return .held(.endInLibrary(type: type, hasTimers: hasTimers))
  }

  // MARK: Tasks

  /// Returns advice for an object that a task keeps. While the task keeps the object, the object's `deinit` cannot run
  /// and cancel the task.
  private func task(_ type: String) -> [Advice.HolderChange] {
    let capture = captureInTask(type)
    var changes: [Advice.HolderChange] = [
      capture.map { hasWeakCapture ? .releaseInTask($0) : .captureInTask($0) } ?? .cancelTask(type: type)
    ]
    if let keeper { changes.append(.clearAwaited(keeper)) }
    return changes
  }

  /// Returns the capture of the object by the task's closure; nil if the object is not in the task's own memory.
  private func captureInTask(_ type: String) -> Advice.WeakCapture? {
    if let capture = captures.last, capture.target == finding.path.count - 1 {
      let variable = capture.variable.isEmpty ? nil : capture.variable
      return .init(variable: variable, type: type, site: .taskClosure(capture.closure))
    }
    return startOfTask.map { .init(variable: $0.isMethod(of: type) ? "self" : nil, type: type, site: .startedAt($0)) }
  }

  /// The program's function that started the task. Nil unless the object is in the task's own memory or in a closure of
  /// the task.
  private var startOfTask: SourceFrame? {
    guard let step = finding.path.dropLast().last, step.kind == .malloc || step.kind == .task || step.kind == .closure
    else { return nil }
    return step.place.flatMap { $0.kind == .user && $0.line != nil ? $0 : nil }
  }

  /// Whether the task has a weak capture of the object, besides the reference that keeps the object.
  private var hasWeakCapture: Bool {
    finding.path.dropLast().last.map { evidence.isWeaklyCaptured(object.address, in: $0.address) } ?? false
  }

  /// The program's field that leads to the task. Skips fields of generic types: they are wrappers, and a program may
  /// have many such objects.
  private var keeper: String? {
    for index in finding.path.indices.prefix(max(0, retention.suspect)).reversed()
    where finding.path[index].kind == .object && !finding.path[index].type.contains("<") {
      if SourceNames.isWord(finding.path[index].reference?.name ?? ""), let name = names.field(of: index) {
        return name
      }
    }
    return nil
  }

  // MARK: Fields

  private var held: Advice.HolderChange {
    let place = retention.ownHolder ?? retention.holder
    let type = object.kind == .object ? SourceNames.plain(object.type) : nil
    if finding.verdict == .accumulating || finding.verdict == .growing {
      return list(below: place) ?? .limit(place, type: type)
    }
    let isElement =
      retention.suspect > 0 && finding.path.indices.contains(retention.suspect - 1)
      && finding.path[retention.suspect - 1].kind.isCollection
    return isElement ? .removeElement(place, type: type, weakCapture) : .clear(place, type: type, weakCapture)
  }

  /// Returns advice for objects of a linked list; nil if the holder of the object is not of the same type.
  private func list(below place: String) -> Advice.HolderChange? {
    guard object.kind == .object, let holder = finding.path.dropLast().last, holder.type == object.type,
      let link = holder.reference?.name, SourceNames.isWord(link),
      let first = finding.path.firstIndex(where: { $0.type == object.type })
    else { return nil }
    return .cutList(entry: names.field(of: first - 1) ?? place, type: SourceNames.plain(object.type), link: link)
  }

  // MARK: Captures

  /// Captures of the program's closures, from the suspect reference to the object.
  private var captures: [CycleCut.Capture] {
    finding.path.indices.dropFirst(max(0, retention.suspect - 1)).compactMap(cut.capture(at:))
  }

  /// The capture to make weak; nil if no closure is known that captures the object itself.
  private var weakCapture: Advice.WeakCapture? {
    guard let capture = captures.last, capture.target == finding.path.count - 1, case .directly = capture.how else {
      return captureInBlock
    }
    return cut.weakCapture(capture)
  }

  /// The capture of a closure that a library keeps. Only the closure's memory is known.
  private var captureInBlock: Advice.WeakCapture? {
    guard object.kind == .object else { return nil }
    let blocks = finding.path.dropLast().reversed().prefix { $0.kind == .malloc || $0.kind == .closure }
    let frames = blocks.compactMap { $0.place?.kind == .user ? $0.place : nil }
    // The nearest block is the closure's own memory. Blocks further out may belong to libdispatch, which reuses them
    // for other work.
    guard let nearest = frames.first,
      let frame = frames.first(where: { $0.line != nil && $0.function == nearest.function }) ?? frames.first
    else { return nil }
    let type = SourceNames.plain(object.type)
    return .init(variable: frame.isMethod(of: type) ? "self" : nil, type: type, site: .passed(by: frame))
  }
}
