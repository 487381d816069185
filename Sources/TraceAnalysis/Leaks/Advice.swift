// What to do about a finding.

/// Chooses advice by what the path goes through. Sentences, most likely first; they name the place to change.
enum Advice {
  static func lines(for finding: Finding) -> [String] {
    if finding.isLibrary { return libraryAdvice(finding) }
    switch finding.verdict {
    case .retainCycle: return cycleAdvice(finding)
    case .suspended: return suspendedAdvice(finding)
    case .lost: return lostAdvice(finding)
    case .deinitialised:
      let holder = finding.path.count > 1 ? finding.path.first : nil
      let field = holder.flatMap { step in step.reference.map { described($0, of: step) } }
      return [
        "The object is gone, and reading it through \(field ?? "an unowned reference") ends the program. "
          + "Make that reference weak, or let the holder end before the object does."
      ]
    case .dangling: return danglingAdvice(finding)
    case .outlived, .accumulating, .growing: return outlivingAdvice(finding)
    }
  }

  // MARK: What should be gone

  private static func outlivingAdvice(_ finding: Finding) -> [String] {
    guard let outliving = finding.outliving, let object = finding.path.last else { return [] }
    let type = object.type
    // What is left of a registration is its closure, which keeps nothing of the program's.
    if let registration = outliving.registration, object.kind == .closure {
      let call = switch registration {
      case .timer: "invalidate() on the timer"
      case .observer: "removeObserver(_:) with the observer"
      case .dispatchSource: "cancel() on the dispatch source"
      case .dispatchWork: "cancel() on the work item"
      case .task: "cancel() on the task"
      case .eventLoop: "cancel() on the scheduled task"
      case .urlSession: "finishTasksAndInvalidate() on the session"
      case .thread: "what the thread waits for"
      }
      return ["Let go: call \(call) when it is no longer needed; until then its closure is kept."]
    }
    switch outliving.registration {
    case .timer?: return ["Let go: call invalidate() on the timer when \(type) is done, and capture it weakly in the timer's block."]
    case .observer?: return ["Let go: remove the observer when \(type) is done, and capture it weakly in the block."]
    case .dispatchSource?: return ["Let go: call cancel() on the dispatch source when \(type) is done, and capture it weakly in the handler."]
    case .dispatchWork?: return ["Let go: keep the DispatchWorkItem and cancel() it when \(type) is done, or capture weakly what it does not need."]
    case .task?: return ["Let go: keep the task and cancel() it when \(type) is done; in the task, check Task.isCancelled, and let sleeps and loops end."]
    case .eventLoop?: return ["Let go: cancel() the scheduled or repeated task when \(type) is done."]
    case .urlSession?: return ["Let go: call finishTasksAndInvalidate() on the session when \(type) is done."]
    case .thread?: return ["Let the threads end when \(type) is done: signal what they wait for, also on the paths that fail, or wait with a timeout."]
    case nil:
      let place = outliving.holder
      if finding.verdict == .accumulating || finding.verdict == .growing { return ["\(place) only grows: remove what is done with, or give it a limit."] }
      return ["\(place) still refers to what is done with: remove it there when \(type) ends."]
    }
  }

  // MARK: Cycles

  /// Types that end a cycle by being told to, and what tells them.
  private static let endings: [(type: String, advice: String)] = [
    ("Foundation.URLSession", "A URLSession keeps its delegate until it is invalidated: call finishTasksAndInvalidate() or invalidateAndCancel()."),
    ("FoundationNetworking.URLSession", "A URLSession keeps its delegate until it is invalidated: call finishTasksAndInvalidate() or invalidateAndCancel()."),
    ("Foundation.Timer", "A repeating Timer keeps its block until it is invalidated: call invalidate() when its owner is done."),
    ("Dispatch.DispatchSource", "A dispatch source keeps its handlers until it is cancelled: call cancel() when its owner is done."),
    ("Dispatch.DispatchWorkItem", "A work item keeps its block for as long as it lives: capture weakly, or drop the item once it has run."),
    ("NIOEmbedded.EmbeddedChannel", "An EmbeddedChannel holds its pipeline and is held by it until it is closed: call finish()."),
    ("NIOCore.ChannelPipeline", "A channel and its pipeline hold each other until the channel is closed: close it, and wait for closeFuture."),
    ("NIOCore.ChannelHandlerContext", "A handler that stores its context holds its channel: clear it in handlerRemoved(context:), and close the channel."),
  ]

  private static func cycleAdvice(_ finding: Finding) -> [String] {
    var lines: [String] = []
    for step in finding.path {
      if let ending = endings.first(where: { step.qualifiedType.hasPrefix($0.type) }), !lines.contains(ending.advice) { lines.append(ending.advice) }
      if let reference = step.reference, ["completionBlock", "__completion"].contains(where: { reference.name.hasSuffix($0) }), step.kind == .object {
        lines.append("An Operation keeps its completionBlock after it has run: set it to nil there, or capture the operation weakly.")
      }
    }
    if let capture = finding.path.first(where: { $0.kind == .closure && $0.reference?.isCapture == true && isObject(target(of: $0, in: finding)) }),
      let reference = capture.reference
    {
      let variable = reference.name.isEmpty ? "the \(target(of: capture, in: finding).type)" : reference.name
      let place = whereabouts(capture.function)
      let holder = holder(of: capture, in: finding)
      let clearing = holder.map { ", or clear \($0) when it is no longer needed" } ?? ""
      if holder?.contains("onTermination") == true || lines.isEmpty {
        lines.append("Break it: capture \(variable) weakly\(place)\(clearing).")
      } else {
        lines.append("Or capture \(variable) weakly\(place).")
      }
    } else if let step = finding.path.first(where: { $0.reference?.isClosure == true }), let reference = step.reference {
      // A closure without a context: its captured object is all it holds.
      let captured = target(of: step, in: finding)
      let place = whereabouts(reference.closure)
      lines.append("Break it: capture \(reference.capturesSelf ? "self" : "the \(captured.type)") weakly\(place), or clear \(described(reference, of: step)) when it is no longer needed.")
    } else if let back = backReference(finding), lines.isEmpty || !SystemCode.isSystemModule(module(back.step)) && !isDependency(back.step, finding) {
      lines.append("Break it: make \(described(back.reference, of: back.step)) weak or unowned, or clear it when \(finding.path[0].type) is done.")
    } else if lines.isEmpty {
      lines.append("Break it: clear one of these references when \(finding.path.first?.type ?? "it") is done.")
    }
    return lines
  }

  /// Names that references to an owner usually have.
  private static let ownerNames = [
    "delegate", "parent", "owner", "datasource", "observer", "target", "superview", "container", "controller", "coordinator", "previous", "prev", "listener",
    "presenter", "manager", "context",
  ]

  private static func backReference(_ finding: Finding) -> (step: Finding.Step, reference: Finding.Reference)? {
    let all = finding.path.compactMap { step in
      step.reference.flatMap { step.kind == .object && !$0.name.isEmpty ? (step: step, reference: $0) : nil }
    }
    // A field of a library's class is not for the program to change.
    let own = all.filter { !SystemCode.isSystemModule(module($0.step)) && !isDependency($0.step, finding) }
    let candidates = own.isEmpty ? all : own
    let named = candidates.filter { candidate in
      let name = candidate.reference.name.lowercased()
      return ownerNames.contains { name.hasSuffix($0) }
    }
    return named.last ?? candidates.last
  }

  private static func module(_ step: Finding.Step) -> String { String(step.qualifiedType.prefix { $0 != "." }) }

  /// Of a package that the program uses, where another object of the path is the program's own: that one stands first.
  private static func isDependency(_ step: Finding.Step, _ finding: Finding) -> Bool {
    guard let first = finding.path.first, first.kind == .object else { return false }
    return module(step) != module(first)
  }

  /// Something that can be captured weakly.
  private static func isObject(_ step: Finding.Step) -> Bool { step.kind == .object || step.kind == .task }

  // MARK: Others

  private static func suspendedAdvice(_ finding: Finding) -> [String] {
    let place = finding.path.first.flatMap { position($0.function) }.map { " at \($0)" } ?? ""
    if finding.isCycle {
      return [
        "The task waits\(place) for something that only it keeps alive, so nothing will resume it. Finish the stream or resume the continuation, "
          + "cancel the task when its owner ends, and capture the owner weakly in it."
      ]
    }
    return [
      "Nothing is left that could resume the task\(place): its continuation was dropped. Resume every continuation exactly once on every path, "
        + "also on errors and cancellation."
    ]
  }

  private static func danglingAdvice(_ finding: Finding) -> [String] {
    let field = finding.path.first.flatMap { step in step.reference.map { described($0, of: step) } }
    guard let ending = finding.ending, let used = ending.used else {
      return ["\(field ?? "the reference") is not counted and its target is gone: clear it when the target ends, or make it weak."]
    }
    let place = position(used.frame).map { " at \($0)" } ?? used.frame.map { " in \($0.function)" } ?? ""
    let end = position(ending.freed.frame).map { " (at \($0))" } ?? ""
    if let field {
      return ["The \(ending.type) was used\(place) when it was gone: clear \(field) when its target ends, or make it weak. Memory that is given away meanwhile is corrupted."]
    }
    return [
      "Something\(place) still had a pointer to the \(ending.type), and nothing kept the object: unregister the pointer before the object ends\(end), "
        + "or keep the object (Unmanaged.passRetained) for as long as it is registered. Memory that is given away meanwhile is corrupted."
    ]
  }

  private static func lostAdvice(_ finding: Finding) -> [String] {
    guard let step = finding.path.first else { return [] }
    if step.kind == .malloc {
      let place = position(step.allocation).map { " of \($0)" } ?? ""
      return ["No pointer to the memory\(place) is left: deallocate it before the last pointer to it goes."]
    }
    let asking = step.kind == .object ? " 'leaktrace history' with its type's name shows who retained it." : ""
    return ["Look for a retain without a release: Unmanaged.passRetained or retain() without takeRetainedValue() or release()." + asking]
  }

  private static func libraryAdvice(_ finding: Finding) -> [String] {
    let captured = finding.held.contains { !$0.name.hasPrefix("[") && $0.name != "malloc" && $0.name != "closure" }
    return captured ? ["What its closures capture stays with it: capture weakly there, and the library keeps only its own."] : []
  }

  // MARK: Words

  private static func target(of step: Finding.Step, in finding: Finding) -> Finding.Step {
    guard let index = finding.path.firstIndex(of: step) else { return step }
    return finding.path[index + 1 < finding.path.count ? index + 1 : 0]
  }

  private static func holder(of step: Finding.Step, in finding: Finding) -> String? {
    guard let index = finding.path.firstIndex(of: step) else { return nil }
    let before = finding.path[index > 0 ? index - 1 : finding.path.count - 1]
    guard before != step, let reference = before.reference, !reference.name.isEmpty, before.kind == .object else { return nil }
    return described(reference, of: before)
  }

  private static func described(_ reference: Finding.Reference, of step: Finding.Step) -> String {
    if reference.name.isEmpty { return "the reference in \(step.type)" }
    return step.kind == .object ? "\(step.type).\(reference.name)" : reference.name
  }

  /// A closure by its line, or where the optimiser left none, by its name.
  private static func whereabouts(_ closure: SourceFrame?) -> String {
    guard let closure else { return "" }
    return position(closure).map { " in the closure at \($0)" } ?? (closure.isNamed ? " in \(closure.closureName)" : "")
  }

  static func position(_ frame: SourceFrame?) -> String? {
    guard let frame, let file = frame.file else { return nil }
    return frame.line.map { "\(fileName(ofPath: file)):\($0)" } ?? fileName(ofPath: file)
  }
}
