// Advice in sentences.

import LeakDetection
import TextWriting
import TraceReading
import TraceSymbolication

/// Phrases advice. Names are unescaped, as in the trace, so a renderer must escape the sentences.
package enum AdviceWords {
  package static func sentence(_ advice: Advice) -> String {
    switch advice {
    case .sentence(let text): text
    case .recordFromStart:
      "A recording from the program's start shows who asks for it: leaktrace record, or record --light with more samples (--sample 16KiB)."
    case .captureWeaklyForLibrary:
      "What its closures capture stays with it: capture weakly there, and the library keeps only its own."
    case .task(let change): sentence(change)
    case .unowned(let change): sentence(change)
    case .pointer(let change): sentence(change)
    case .lost(let change): sentence(change)
    case .cycle(let change): CycleWords.sentence(change)
    case .held(let change): HolderWords.sentence(change)
    }
  }

  /// Returns words such as `capture self weakly in the closure at Download.swift:41`.
  static func words(_ capture: Advice.WeakCapture) -> String {
    "capture \(variable(capture)) weakly\(words(capture.site))"
  }

  /// Returns `self`, or `the Download` if the variable is unknown.
  static func variable(_ capture: Advice.WeakCapture) -> String { capture.variable ?? "the \(capture.type)" }

  /// Returns words such as ` in the closure at Download.swift:41`.
  static func words(_ site: Advice.CaptureSite) -> String {
    switch site {
    case .closure(let closure): PlaceWords.inClosure(closure)
    case .taskClosure(let closure):
      closure?.position.map { " in the task's closure at \($0)" } ?? PlaceWords.inClosure(closure)
    case .passed(let frame): " in the closure that \(frame.closureName) passes\(PlaceWords.suffix(frame))"
    case .started(let frame): " in the task that \(frame.closureName) starts\(PlaceWords.suffix(frame))"
    case .startedAt(let frame):
      " in the task" + (frame.position.map { "'s closure at \($0)" } ?? " that \(frame.closureName) starts")
    }
  }

  static func words(_ slot: Advice.Slot) -> String {
    switch slot {
    case .field(let name): name
    case .unnamed(let type): "the reference in \(type)"
    }
  }

  // MARK: Tasks

  private static func sentence(_ change: Advice.TaskChange) -> String {
    switch change {
    case .endAwaited(let frame):
      return
        "The task waits\(PlaceWords.at(frame)) for a task or a group that never ends. Let that one end, also when it is cancelled."
    case .resume(let frame, isJobPossible: true):
      return
        "Nothing is left that could resume the task\(PlaceWords.at(frame)): its continuation, or the job that an executor was to run, was dropped. "
        + "Resume every continuation exactly once on every path, and run every job that an executor is given."
    case .resume(let frame, isJobPossible: false):
      return
        "Nothing is left that could resume the task\(PlaceWords.at(frame)): its continuation was dropped. Resume every continuation exactly once on every path, "
        + "also on errors and cancellation."
    case .givenUp(let frame):
      // A frame without a line means that the optimiser inlined the releasing function here.
      let inlined = frame.line == nil ? ", or in a function that was inlined there" : ""
      return
        "The last reference that let other code resume it was released\(PlaceWords.within(frame))\(inlined): finish the stream there."
    case .breakCycle(let frame, let stream, let cut):
      let waits =
        "The task waits\(PlaceWords.at(frame)) for something that only it keeps alive, so nothing will resume it."
      let finish = stream.map { "Call finish() on \($0)" } ?? "Finish the stream or resume the continuation"
      let waiting = "\(waits) \(finish) wherever the work ends, or "
      switch cut {
      case .capture(let capture, let end):
        return
          "\(waiting)\(words(capture)), and keep no strong reference to it across the await. Then the \(capture.type) is freed, and its deinit can \(words(end))."
      case .variable(let type):
        return
          "\(waiting)let no variable of the task hold the \(type) across the await, as a guard let self before a loop does: unwrap it again after each await. "
          + "Then the \(type) is freed, and its deinit can cancel the task or finish the stream."
      case .unknown:
        return
          "\(waits) Finish the stream or resume the continuation, and cancel the task when its owner is done: the owner's deinit cannot run while the task keeps it."
      }
    }
  }

  private static func words(_ end: Advice.TaskEnd) -> String {
    switch end {
    case .cancelOrFinishStream: "cancel the task or finish the stream"
    case .cancelOrFinishAwaited: "cancel the task or finish what it waits for"
    case .cancel(let field): "call \(field).cancel()"
    case .finish(let field): "call \(field).finish()"
    }
  }

  // MARK: References to ended objects

  private static func sentence(_ change: Advice.UnownedChange) -> String {
    switch change {
    case .unknown:
      return
        "The object is gone, and reading it through an unowned reference ends the program. Make that reference weak, or let its holder end first."
    case .capture(let capture, let field):
      let held = field.map { ", which \($0) holds" } ?? ""
      return
        "Capture \(variable(capture)) weakly instead of unowned\(words(capture.site))\(held): the \(capture.type) is gone, and reading it ends the program. "
        + "Or let go of the closure before the \(capture.type) ends."
    case .field(let field, let type, let owner):
      let holder = owner.map { "the \($0)" } ?? "its holder"
      return
        "Make \(field ?? "the unowned reference") weak instead of unowned: the \(type) is gone, and reading it ends the program. Or let \(holder) end before the \(type) does."
    }
  }

  private static func sentence(_ change: Advice.PointerChange) -> String {
    switch change {
    case .clear(let slot):
      return
        "\(slot.map(words) ?? "The reference") is not counted and its target is gone: clear it when the target ends, or make it weak."
    case .clearUsed(let slot, let type, let used):
      return
        "The \(type) was used\(PlaceWords.atOrIn(used)) when it was gone: clear \(words(slot)) when its target ends, or make it weak. If the memory was reused, such a use corrupts it."
    case .unregister(let type, let used, let freed):
      let end = freed?.position.map { " (at \($0))" } ?? ""
      return
        "Something\(PlaceWords.atOrIn(used)) still had a pointer to the \(type), and nothing kept the object: unregister the pointer before the object ends\(end), "
        + "or keep the object (Unmanaged.passRetained) for as long as it is registered. If the memory was reused, such a use corrupts it."
    }
  }

  // MARK: Lost

  private static func sentence(_ change: Advice.LostChange) -> String {
    switch change {
    case .balanceTask:
      return
        "The task has finished, and one of its references was never released. Balance each Unmanaged.passRetained or retain() of the task with one release()."
    case .free(let frame, let objects):
      let place = frame?.position.map { " that \($0) allocated" } ?? ""
      let initialised =
        objects.isEmpty
        ? ""
        : " Deinitialize it first: it holds \(objects.prefix(2).map { "\($0.count) × \($0.name)" }.joined(separator: ", "))."
      return
        "The memory\(place) was never freed, and no pointer to it is left: free it (free(), or deallocate()) before its last pointer is overwritten or goes away.\(initialised)"
    case .findRetain(let hasHistory):
      let asking = hasHistory ? " 'leaktrace history' with its type's name shows who retained it." : ""
      return
        "Look for a retain without a release: Unmanaged.passRetained or retain() without takeRetainedValue() or release()."
        + asking
    case .release(let type, let isAllocation, let frame):
      let taken =
        isAllocation
        ? "Nothing released the reference that the \(type ?? "object") was created with\(PlaceWords.within(frame))."
        : "Nothing released a reference to the \(type ?? "object"), probably the one taken\(PlaceWords.within(frame))."
      return
        "\(taken) If it was passed to Unmanaged.passRetained, balance that with one release() or takeRetainedValue() after the pointer's last use. "
        + "If it was stored in allocated memory, call deinitialize(count:) before deallocate()."
    case .lookForPath(let made, let freed, let isMemory):
      return
        "Of the \(Decimal.counted(made, isMemory ? "block" : "object")) made there, \(Decimal.grouped(freed)) \(freed == 1 ? "was" : "were") freed: look for a path that leaves early, "
        + "or by an error, and skips the free."
    }
  }
}
