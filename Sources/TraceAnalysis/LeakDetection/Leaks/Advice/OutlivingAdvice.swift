// Advice for objects that something reachable still has.

import TraceSymbolication

/// Says where to let go, and what to capture weakly so that letting go suffices.
struct OutlivingAdvice {
  private let finding: Finding
  private let retention: Finding.Retention
  private let object: Finding.Step
  private let names: SourceNames
  private let cut: CycleCut

  init?(_ finding: Finding, _ evidence: AdviceEvidence) {
    guard let retention = finding.evidence.retention, let object = finding.path.last else { return nil }
    (self.finding, self.retention, self.object) = (finding, retention, object)
    names = SourceNames(finding)
    cut = CycleCut(finding, evidence)
  }

  var lines: [String] {
    guard let registration = retention.registration else { return [held] }
    // Only the closure is left of the registration, and it keeps nothing of the program's.
    if object.kind == .closure {
      return ["\(Self.call(registration)) when it is no longer needed: until then its closure is kept."]
    }
    let type = SourceNames.plain(finding.subject?.type ?? object.type)
    switch registration {
    case .task: return task(type)
    case .eventLoop, .urlSession, .thread: return ["\(Self.call(registration)) when the \(type) is done."]
    case .timer, .observer, .observation, .dispatchSource, .dispatchWork:
      return [
        "\(Self.call(registration)) when the \(type) is done, and \(weakly ?? "capture it weakly in the closure")."
      ]
    }
  }

  private static func call(_ registration: Finding.Registration) -> String {
    switch registration {
    case .timer: "Call invalidate() on the timer"
    case .observer: "Remove the observer (removeObserver(_:))"
    case .observation: "Do not call withObservationTracking again"
    case .dispatchSource: "Call cancel() on the dispatch source"
    case .dispatchWork: "Do not schedule the work again, or schedule a DispatchWorkItem and call cancel() on it,"
    case .task: "Call cancel() on the task"
    case .eventLoop: "Call cancel() on the scheduled or repeated task"
    case .urlSession: "Call finishTasksAndInvalidate() on the session"
    case .thread: "Let the threads end (signal what they wait for, also on the paths that fail, or wait with a timeout)"
    }
  }

  /// Advice for objects that a library has by something of which only its memory is known.
  static func ofLibrary(_ finding: Finding, hasTimers: Bool) -> String {
    let type = finding.path.last.map { SourceNames.plain($0.type) } ?? "object"
    return hasTimers
      ? "Cancel the timer, the dispatch source or the work scheduled with asyncAfter that keeps each \(type) when the \(type) is done, and capture it weakly in the closure."
      : "Undo the registration that keeps each \(type) (a timer, an observer or a callback) when the \(type) is done, and capture it weakly in the closure."
  }

  // MARK: Tasks

  /// A task that keeps its owner keeps the owner's `deinit` from running as well.
  private func task(_ type: String) -> [String] {
    var lines: [String] = []
    let place: (variable: String, task: String)? =
      if let capture = captures.last, capture.target == finding.path.count - 1 {
        (
          capture.variable.isEmpty ? "the \(type)" : capture.variable,
          PlaceWords.position(capture.closure).map { " in the task's closure at \($0)" }
            ?? PlaceWords.inClosure(capture.closure)
        )
      } else if let frame = startOfTask {
        (
          PlaceWords.isMethod(frame, of: type) ? "self" : "the \(type)",
          " in the task"
            + (PlaceWords.position(frame).map { "'s closure at \($0)" } ?? " that \(PlaceWords.function(frame)) starts")
        )
      } else { nil }
    if let place {
      lines.append(
        "Capture \(place.variable) weakly\(place.task), and keep no strong reference to it across an await. "
          + "Then the \(type) is freed, and its deinit can cancel the task. Or keep the task, and cancel it when the \(type) is done."
      )
    } else {
      lines.append(
        "Keep the task and call cancel() on it when the \(type) is done: not in the \(type)'s deinit, which cannot run while the task keeps the \(type). "
          + "In the task, check Task.isCancelled, and let sleeps and loops end.")
    }
    if let keeper { lines.append("\(keeper) keeps what the task waits for: remove that there as well.") }
    return lines
  }

  /// The program's function that started a task which has the object in its own memory, a closure's variables among it.
  private var startOfTask: SourceFrame? {
    guard let step = finding.path.dropLast().last, step.kind == .malloc || step.kind == .task || step.kind == .closure
    else { return nil }
    return step.place.flatMap { $0.kind == .user && $0.line != nil ? $0 : nil }
  }

  /// The program's field that leads to the task. A generic type is a wrapper, of which there may be many.
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

  private var held: String {
    let place = retention.ownHolder ?? retention.holder
    let type = object.kind == .object ? "the \(SourceNames.plain(object.type))" : "it"
    if finding.verdict == .accumulating || finding.verdict == .growing {
      let subject = object.kind == .object ? "each \(SourceNames.plain(object.type))" : "each element"
      return "\(place) only grows: remove \(subject) that is no longer needed, or limit its size."
    }
    let isElement =
      retention.suspect > 0 && finding.path.indices.contains(retention.suspect - 1)
      && finding.path[retention.suspect - 1].kind.isCollection
    let weakly = weakly.map { ", and \($0)" } ?? ""
    if isElement { return "\(place) still has \(type): remove it there when it is done\(weakly)." }
    return
      "\(place) still refers to \(type): clear it when \(object.kind == .object ? type : "its owner") is done\(weakly)."
  }

  // MARK: Captures

  /// Of the program's closures behind the reference to let go of.
  private var captures: [CycleCut.Capture] {
    finding.path.indices.dropFirst(max(0, retention.suspect - 1)).compactMap(cut.capture(at:))
  }

  /// `capture self weakly in the closure at Download.swift:41`; nil without a closure of the program that has the
  /// object itself.
  private var weakly: String? {
    guard let capture = captures.last, capture.target == finding.path.count - 1, case .directly = capture.how else {
      return weaklyInBlock
    }
    let variable = capture.variable.isEmpty ? "the \(SourceNames.plain(object.type))" : capture.variable
    return "capture \(variable) weakly\(PlaceWords.inClosure(capture.closure))"
  }

  /// The same of a closure that a library has, and of which nothing but its memory is known.
  private var weaklyInBlock: String? {
    guard object.kind == .object else { return nil }
    let blocks = finding.path.dropLast().reversed().prefix { $0.kind == .malloc || $0.kind == .closure }
    let frames = blocks.compactMap { $0.place?.kind == .user ? $0.place : nil }
    // The nearest is the closure's own memory. Blocks further out may be libdispatch's, which has them again and again,
    // for whatever comes next.
    guard let nearest = frames.first,
      let frame = frames.first(where: { $0.line != nil && $0.function == nearest.function }) ?? frames.first
    else { return nil }
    let type = SourceNames.plain(object.type)
    let variable = PlaceWords.isMethod(frame, of: type) ? "self" : "the \(type)"
    return
      "capture \(variable) weakly in the closure that \(PlaceWords.function(frame)) passes\(PlaceWords.suffix(frame))"
  }
}
