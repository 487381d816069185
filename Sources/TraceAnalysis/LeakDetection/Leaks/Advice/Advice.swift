// Advice for a finding.

import TraceReading
import TraceSymbolication

/// Chooses advice by what the path goes through. Sentences, most likely first; they name the place to change.
package enum Advice {
  /// `evidence`: what is known of the objects besides.
  static func lines(for finding: Finding, _ evidence: AdviceEvidence = .none) -> [String] {
    if finding.owner == .unknown {
      return [
        "A recording from the program's start shows who asks for it: leaktrace record, or record --light with more samples (--sample 16KiB)."
      ]
    }
    if finding.isLibrary { return libraryAdvice(finding) }
    switch finding.evidence {
    case .unreachable(.cycle, _): return CycleAdvice(finding, evidence).lines
    case .unreachable(.suspended(let suspension), _): return suspendedAdvice(finding, suspension, evidence)
    case .unreachable(.lost, _): return lostAdvice(finding, evidence)
    case .deinitialised: return deinitialisedAdvice(finding)
    case .dangling(let ending): return danglingAdvice(finding, ending)
    case .suspected, .stated, .repeated, .images: return OutlivingAdvice(finding, evidence)?.lines ?? []
    }
  }

  // MARK: Tasks

  private static func suspendedAdvice(
    _ finding: Finding, _ suspension: Finding.Suspension, _ evidence: AdviceEvidence
  ) -> [String] {
    let place = finding.path.first.flatMap { PlaceWords.position($0.code) }.map { " at \($0)" } ?? ""
    if case .alone(let wait) = suspension {
      if wait == .end {
        return [
          "The task waits\(place) for a task or a group that never ends. Let that one end, also when it is cancelled."
        ]
      }
      if wait == nil {
        return [
          "Nothing is left that could resume the task\(place): its continuation, or the job that an executor was to run, was dropped. "
            + "Resume every continuation exactly once on every path, and run every job that an executor is given."
        ]
      }
      return [
        "Nothing is left that could resume the task\(place): its continuation was dropped. Resume every continuation exactly once on every path, "
          + "also on errors and cancellation."
      ]
    }
    let waits = "The task waits\(place) for something that only it keeps alive, so nothing will resume it."
    let waiting = "\(waits) \(finishing(finding))"
    /// The other half: `change` lets the object go, whose end then ends the wait.
    func orElse(_ change: String, _ type: String, _ ending: String = "cancel the task or finish the stream") -> [String]
    {
      ["\(waiting)\(change) across the await. Then the \(type) is freed, and its deinit can \(ending)."]
    }
    let weakly = ", and keep no strong reference to it"
    let cut = CycleCut(finding, evidence)
    if let capture = cut.capture, case .directly = capture.how, finding.path[capture.target].kind == .object {
      let type = SourceNames.plain(finding.path[capture.target].type)
      let variable = capture.variable.isEmpty ? "the \(type)" : capture.variable
      var ending = "cancel the task or finish what it waits for"
      if let field = cut.names.field(of: capture.target), let next = cut.names.next(capture.target) {
        if finding.path[next].kind == .task { ending = "call \(field).cancel()" }
        if SourceNames.plain(finding.path[next].type).hasSuffix("Stream._Storage") { ending = "call \(field).finish()" }
      }
      return orElse("capture \(variable) weakly\(PlaceWords.inClosure(capture.closure))\(weakly)", type, ending)
    }
    // The path may go through the stream alone; the closure may have captured its owner besides.
    for step in finding.path where step.kind == .closure && CycleCut.isProgram(step.function) {
      guard let function = step.function, let type = evidence.programTypes(referredToBy: step.address).first else {
        continue
      }
      let variable = PlaceWords.isMethod(function, of: type) ? "self" : "the \(type)"
      return orElse("capture \(variable) weakly\(PlaceWords.inClosure(function))\(weakly)", type)
    }
    // Nobody captured it: a variable of the task has it, such as that of a `guard let self` in front of a loop.
    if let index = finding.path.indices.dropFirst().first(where: {
      finding.path[$0].kind == .object && finding.path[$0].library == nil
    }),
      [.task, .malloc].contains(finding.path[index - 1].kind)
    {
      let type = SourceNames.plain(finding.path[index].type)
      return [
        "\(waiting)let no variable of the task hold the \(type) across the await, as a guard let self before a loop does: unwrap it anew after each await. "
          + "Then the \(type) is freed, and its deinit can cancel the task or finish the stream."
      ]
    }
    // The task's own memory comes first otherwise. What it keeps alone, and a method of which started it, is captured
    // as `self`.
    if let start = finding.path.first?.place, start.kind == .user, start.line != nil,
      let type = finding.held.types.first(where: { PlaceWords.isMethod(start, of: SourceNames.plain($0.name)) }).map({
        SourceNames.plain($0.name)
      })
    {
      return orElse(
        "capture self weakly in the task that \(PlaceWords.function(start)) starts\(PlaceWords.suffix(start))\(weakly)",
        type)
    }
    return [
      "\(waits) Finish the stream or resume the continuation, and cancel the task when its owner is done: the owner's deinit cannot run while the task keeps it."
    ]
  }

  /// The first half of a sentence: what ends the wait where the work ends, if the path shows what that is.
  private static func finishing(_ finding: Finding) -> String {
    let names = SourceNames(finding)
    for index in finding.path.indices where SourceNames.plain(finding.path[index].type).hasSuffix("Stream._Storage") {
      if let before = names.previous(index), let field = names.field(of: before) {
        return "Call finish() on \(field) wherever the work ends, or "
      }
    }
    return "Finish the stream or resume the continuation wherever the work ends, or "
  }

  // MARK: References to what is gone

  private static func deinitialisedAdvice(_ finding: Finding) -> [String] {
    let names = SourceNames(finding)
    let index = finding.path.count - 2
    guard index >= 0 else {
      return [
        "The object is gone, and reading it through an unowned reference ends the program. Make that reference weak, or let its holder end first."
      ]
    }
    let holder = finding.path[index]
    let type = SourceNames.plain(finding.path[index + 1].type)
    if holder.kind == .closure {
      let name = holder.reference?.name ?? ""
      let variable = SourceNames.isWord(name) ? name : "the \(type)"
      let field = index > 0 ? names.field(of: index - 1).map { ", which \($0) holds" } ?? "" : ""
      return [
        "Capture \(variable) weakly instead of unowned\(PlaceWords.inClosure(holder.function))\(field): the \(type) is gone, and reading it ends the program. "
          + "Or let go of the closure before the \(type) ends."
      ]
    }
    let owner = holder.kind == .object ? "the \(SourceNames.plain(holder.type))" : "its holder"
    let field = names.elementField(of: index) ?? names.field(of: index) ?? "the unowned reference"
    return [
      "Make \(field) weak instead of unowned: the \(type) is gone, and reading it ends the program. Or let \(owner) end before the \(type) does."
    ]
  }

  private static func danglingAdvice(_ finding: Finding, _ ending: Finding.Ending?) -> [String] {
    let names = SourceNames(finding)
    let field = finding.path.first.flatMap { step in
      step.reference.flatMap { _ in names.elementField(of: 0) ?? names.field(of: 0) ?? described(step) }
    }
    guard let ending, let used = ending.used else {
      return [
        "\(field ?? "The reference") is not counted and its target is gone: clear it when the target ends, or make it weak."
      ]
    }
    let place = PlaceWords.position(used.frame).map { " at \($0)" } ?? used.frame.map { " in \($0.function)" } ?? ""
    let end = PlaceWords.position(ending.freed.frame).map { " (at \($0))" } ?? ""
    if let field {
      return [
        "The \(ending.type) was used\(place) when it was gone: clear \(field) when its target ends, or make it weak. Memory that is given away meanwhile is corrupted."
      ]
    }
    return [
      "Something\(place) still had a pointer to the \(ending.type), and nothing kept the object: unregister the pointer before the object ends\(end), "
        + "or keep the object (Unmanaged.passRetained) for as long as it is registered. Memory that is given away meanwhile is corrupted."
    ]
  }

  private static func described(_ step: Finding.Step) -> String? {
    guard let name = step.reference?.name, SourceNames.isWord(name) else {
      return "the reference in \(SourceNames.plain(step.type))"
    }
    return step.kind == .object ? "\(SourceNames.plain(step.type)).\(name)" : name
  }

  // MARK: Lost

  private static func lostAdvice(_ finding: Finding, _ evidence: AdviceEvidence) -> [String] {
    guard let step = finding.path.first else { return [] }
    let paths =
      evidence.siblings(of: step.address).map {
        [
          "Of the \(Decimal.counted($0.made, step.kind == .malloc ? "block" : "object")) made there, \(Decimal.grouped($0.freed)) \($0.freed == 1 ? "was" : "were") freed: look for a path that leaves early, "
            + "or by an error, without doing so."
        ]
      } ?? []
    return lostCause(step, finding, evidence) + paths
  }

  private static func lostCause(_ step: Finding.Step, _ finding: Finding, _ evidence: AdviceEvidence) -> [String] {
    if step.kind == .task {
      return [
        "The task has finished, and one of its references was never released. Balance each Unmanaged.passRetained or retain() of the task with one release()."
      ]
    }
    if step.kind == .malloc {
      let place = step.place?.kind == .user ? PlaceWords.position(step.place).map { " that \($0) allocated" } ?? "" : ""
      // Objects in the memory are not released with it.
      let objects = finding.held.types.filter { !$0.name.hasPrefix("[") && $0.name.first?.isUppercase == true }
      let initialised =
        objects.isEmpty
        ? ""
        : " Deinitialize it first: it holds \(objects.prefix(2).map { "\($0.count) × \($0.name)" }.joined(separator: ", "))."
      return [
        "The memory\(place) was never freed, and no pointer to it is left: free it (free(), or deallocate()) before its last pointer is overwritten or goes away.\(initialised)"
      ]
    }
    guard let open = evidence.openReference(of: step.address), open.place != nil else {
      let asking =
        step.kind == .object && evidence.hasHistory
        ? " 'leaktrace history' with its type's name shows who retained it." : ""
      return [
        "Look for a retain without a release: Unmanaged.passRetained or retain() without takeRetainedValue() or release()."
          + asking
      ]
    }
    let type = step.kind == .object ? SourceNames.plain(step.type) : "object"
    let taken =
      open.isAllocation
      ? "Nothing released the reference that the \(type) was created with\(PlaceWords.within(step.place ?? open.place))."
      : "Nothing released a reference to the \(type), probably the one taken\(PlaceWords.within(open.place))."
    return [
      "\(taken) If it was passed to Unmanaged.passRetained, balance that with one release() or takeRetainedValue() after the pointer's last use. "
        + "If it was stored in allocated memory, call deinitialize(count:) before deallocate()."
    ]
  }

  private static func libraryAdvice(_ finding: Finding) -> [String] {
    let captured = finding.held.types.contains {
      !$0.name.hasPrefix("[") && $0.name != "malloc" && $0.name != "closure"
    }
    return captured
      ? ["What its closures capture stays with it: capture weakly there, and the library keeps only its own."] : []
  }

  package static func position(_ frame: SourceFrame?) -> String? { PlaceWords.position(frame) }
}
