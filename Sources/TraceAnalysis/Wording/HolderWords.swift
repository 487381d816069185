// Advice, in sentences, for objects that a reachable object still holds.

import LeakDetection
import TextWriting
import TraceReading

/// Phrases where to release an object, and which capture to make weak so that the release suffices.
package enum HolderWords {
  /// Returns a sentence about the common end of a finding's objects; nil if they are live.
  package static func end(_ retention: Finding.Retention) -> String? {
    guard let end = retention.end else { return nil }
    let place = end.place.map { PlaceWords.within($0) } ?? ""
    return "These stayed until the \(end.owner) that kept them was freed\(place), shortly before the program ended."
  }

  /// Returns a sentence that no code can end the registrations of a finding's objects; nil if that is not known.
  package static func reach(_ retention: Finding.Retention) -> String? {
    if let place = retention.letGo {
      let rest =
        retention.registration == nil ? "This holder still has them." : "Their tasks still wait, and keep them."
      return "The program let go of these\(PlaceWords.within(place)). \(rest)"
    }
    if retention.isCancelled == true {
      return "The program cancelled these tasks. They still wait for a continuation, without a cancellation handler."
    }
    guard retention.isBeyondReach == true else { return nil }
    switch retention.registration {
    case .task?: return "No code has the handle of these tasks, so none can cancel them. They sleep in a loop."
    case .timer?, .dispatchSource?:
      return "No other code can stop these timers: only the objects themselves refer to them."
    case .observer?: return "No other code has the tokens of these observers, so none can remove them."
    case .taskGroup?: return "No code has read the results of these finished child tasks."
    case .observation?, .fileHandle?, .dispatchWork?, .eventLoop?, .urlSession?, .thread?, nil: return nil
    }
  }

  static func sentence(_ change: Advice.HolderChange) -> String {
    switch change {
    case .drain(let group):
      return
        "No code reads the results of \(group). Use withDiscardingTaskGroup, which keeps none. Or call next() on the group before you add a child, once enough children run at a time."
    case .endClosure(let registration):
      return "\(call(registration)) when it is no longer needed: until then its closure is kept."
    case .end(let registration, let type): return "\(call(registration)) when the \(type) is done."
    case .endAndCapture(let registration, let type, let capture):
      let weakly = capture.map(AdviceWords.words) ?? "capture it weakly in the closure"
      return "\(call(registration)) when the \(type) is done, and \(weakly)."
    case .captureInTask(let capture):
      return
        "Capture \(AdviceWords.variable(capture)) weakly\(AdviceWords.words(capture.site)), and keep no strong reference to it across an await. "
        + cancelling(capture.type)
    case .releaseInTask(let capture):
      let variable = AdviceWords.variable(capture)
      return
        "Keep no strong reference to \(variable) across an await\(AdviceWords.words(capture.site)): the capture is weak, so unwrap it again after each await, such as inside the loop. "
        + cancelling(capture.type)
    case .cancelTask(let type):
      return
        "Keep the task and call cancel() on it when the \(type) is done: not in the \(type)'s deinit, which cannot run while the task keeps the \(type). "
        + "In the task, check Task.isCancelled, and let sleeps and loops end."
    case .clearAwaited(let field): return "\(field) keeps what the task waits for: remove that there as well."
    case .limit(let place, let type):
      return
        "\(place) only grows: remove \(type.map { "each \($0)" } ?? "each element") that is no longer needed, or limit its size."
    case .cutList(let entry, let type, let link):
      return
        "Each \(type) keeps another by \(type).\(link), and \(entry) leads to the first: let go of \(entry), or clear \(type).\(link), when they are no longer needed."
    case .removeElement(let place, let type, let capture):
      return "\(place) still has \(type.map { "the \($0)" } ?? "it"): remove it there when it is done\(and(capture))."
    case .clear(let place, let type, let capture):
      let object = type.map { "the \($0)" }
      return
        "\(place) still refers to \(object ?? "it"): clear it when \(object ?? "its owner") is done\(and(capture))."
    case .likeSiblings(let frame, let passed, let freed, let survivors):
      let those =
        passed == freed
        ? "The \(Decimal.grouped(freed)) that were freed"
        : "\(Decimal.grouped(passed)) of the \(Decimal.grouped(freed)) that were freed"
      let these = survivors == 1 ? "This one was not." : "These \(Decimal.grouped(survivors)) were not."
      return "\(those) were retained or released at \(PlaceWords.name(frame)). \(these)"
    case .endInLibrary(let type, hasTimers: true):
      return
        "Cancel the timer, the dispatch source or the work scheduled with asyncAfter that keeps each \(type) when the \(type) is done, and capture it weakly in the closure."
    case .endInLibrary(let type, hasTimers: false):
      return
        "Undo the registration that keeps each \(type) (a timer, an observer or a callback) when the \(type) is done, and capture it weakly in the closure."
    }
  }

  private static func cancelling(_ type: String) -> String {
    "Then the \(type) is freed, and its deinit can cancel the task. Or keep the task, and cancel it when the \(type) is done."
  }

  private static func and(_ capture: Advice.WeakCapture?) -> String {
    capture.map { ", and \(AdviceWords.words($0))" } ?? ""
  }

  private static func call(_ registration: Finding.Registration) -> String {
    switch registration {
    case .timer: "Call invalidate() on the timer"
    case .observer: "Remove the observer (removeObserver(_:))"
    case .observation: "Do not call withObservationTracking again"
    case .dispatchSource: "Call cancel() on the dispatch source"
    case .fileHandle: "Set the handle's readabilityHandler (or writeabilityHandler) to nil"
    case .dispatchWork: "Do not schedule the work again, or schedule a DispatchWorkItem and call cancel() on it,"
    case .task: "Call cancel() on the task"
    case .taskGroup: "Call next() on the group"
    case .eventLoop: "Call cancel() on the scheduled or repeated task"
    case .urlSession: "Call finishTasksAndInvalidate() on the session"
    case .thread:
      "Let the threads end (signal their condition or semaphore, also on the paths that fail, or wait with a timeout)"
    }
  }
}
