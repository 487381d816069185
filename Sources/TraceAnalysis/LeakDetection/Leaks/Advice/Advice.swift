// Advice as values: the change to make, and the names in it.

import TraceSymbolication

/// A change that mends a finding, or a place to look at. `AdviceWords` has the sentence for each.
///
/// Types in it are as the source declares them, without modules and arguments. Fields have the type that declares them:
/// `Room.players`.
package enum Advice: Hashable, Sendable {
  /// A sentence of the platform's rules, or of a digest.
  case sentence(String)
  /// Nothing shows who asks for the memory: a recording from the start would.
  case recordFromStart
  /// The library keeps the objects that the program's closures captured.
  case captureWeaklyForLibrary
  case task(TaskChange)
  case unowned(UnownedChange)
  case pointer(PointerChange)
  case lost(LostChange)
  case cycle(CycleChange)
  case held(HolderChange)

  /// A capture to make weak.
  package struct WeakCapture: Hashable, Sendable {
    /// The variable's name; nil if it is not known.
    package var variable: String?
    package var type: String
    package var site: CaptureSite
  }

  /// The closure that captures.
  package enum CaptureSite: Hashable, Sendable {
    case closure(SourceFrame?)
    /// The closure is a task's.
    case taskClosure(SourceFrame?)
    /// Only the closure's memory is known, and the function that gave it to a library.
    case passed(by: SourceFrame)
    /// The function that starts the task has the closure.
    case started(by: SourceFrame)
    /// The line that starts the task has the closure.
    case startedAt(SourceFrame)
  }

  /// Another way to end a cycle: to let go of what closes it.
  package enum Release: Hashable, Sendable {
    case clear(String)
    case remove(from: String)
    case finish(String)
  }

  /// A suspended task.
  package enum TaskChange: Hashable, Sendable {
    case endAwaited(at: SourceFrame?)
    case resume(at: SourceFrame?, isJobPossible: Bool)
    /// The line gave up the last reference that let other code resume it.
    case givenUp(at: SourceFrame)
    /// `stream`: the field of the stream that it waits for, if it is one.
    case breakCycle(at: SourceFrame?, stream: String?, TaskCut)
  }

  /// The reference of a task's cycle to cut.
  package enum TaskCut: Hashable, Sendable {
    case capture(WeakCapture, then: TaskEnd)
    /// A variable of the task has an object of this type across an await.
    case variable(type: String)
    case unknown
  }

  /// The end of a wait, by the deinit of the object that the task kept.
  package enum TaskEnd: Hashable, Sendable {
    case cancelOrFinishStream
    case cancelOrFinishAwaited
    case cancel(String)
    case finish(String)
  }

  /// An unowned reference to an object that has ended.
  package enum UnownedChange: Hashable, Sendable {
    case unknown
    /// `field`: has the closure.
    case capture(WeakCapture, field: String?)
    /// `owner`: the type of the object with the reference.
    case field(String?, type: String, owner: String?)
  }

  /// A reference that is not counted, to an object that has ended.
  package enum PointerChange: Hashable, Sendable {
    case clear(Slot?)
    case clearUsed(Slot, type: String, usedAt: SourceFrame?)
    case unregister(type: String, usedAt: SourceFrame?, freedAt: SourceFrame?)
  }

  /// The place of a reference.
  package enum Slot: Hashable, Sendable {
    case field(String)
    /// Its field has no name.
    case unnamed(in: String)
  }

  /// Memory that nothing refers to.
  package enum LostChange: Hashable, Sendable {
    case balanceTask
    /// `objects`: those in the memory, which have to be deinitialised first.
    case free(allocatedAt: SourceFrame?, objects: [Finding.HeldType])
    /// `hasHistory`: the trace has its retains and releases.
    case findRetain(hasHistory: Bool)
    /// `type`: nil for closures and boxes. `isAllocation`: the reference is the object's first.
    case release(type: String?, isAllocation: Bool, at: SourceFrame?)
    /// All other blocks or objects of the place were freed.
    case lookForPath(made: UInt64, freed: UInt64, isMemory: Bool)
  }

  /// A reference of a cycle to cut.
  package enum CycleChange: Hashable, Sendable {
    case clearRing(type: String, field: String)
    case capture(WeakCapture, or: Release?)
    /// `places`: of the closures, as `A.swift:7`, or `9` for a line of the file before. `more`: the number of others.
    case captureInAll(WeakCapture, places: [String], more: Int)
    /// A closure captures the variable that holds it.
    case clearVariable(String, closure: SourceFrame?)
    /// The object is captured as a part of another value.
    case captureAlone(WeakCapture, or: Release?)
    /// A local function captures it, which has no list of captures.
    case replaceLocalFunction(SourceFrame, WeakCapture, or: Release?)
    /// `field` holds a method of the type's object, since `setter` put it there.
    case replaceMethod(type: String, setter: SourceFrame, field: String?)
    case makeWeak(String, Container?, owner: String, orClear: String?)
    case removeElement(owner: String, from: Slot)
    /// `isCase`: the field's value is an enumeration's.
    case clearValue(Slot, owner: String, isCase: Bool)
    case clear(String, of: String)
  }

  /// The field that has a reference's value for a part.
  package enum Container: Hashable, Sendable {
    case collection(String)
    case value(String)
  }

  /// Objects that something reachable has.
  package enum HolderChange: Hashable, Sendable {
    /// No code reads the results of a task group.
    case drain(String)
    /// Only a closure is left of the registration.
    case endClosure(Finding.Registration)
    case end(Finding.Registration, type: String)
    case endAndCapture(Finding.Registration, type: String, WeakCapture?)
    case captureInTask(WeakCapture)
    case cancelTask(type: String)
    /// The field leads to the object or stream that the task awaits.
    case clearAwaited(String)
    /// The types of these are nil for memory and closures.
    case limit(String, type: String?)
    /// Each object of the type keeps another by the field `link`, and `entry` leads to the first.
    case cutList(entry: String, type: String, link: String)
    case removeElement(String, type: String?, WeakCapture?)
    case clear(String, type: String?, WeakCapture?)
    /// The line that lets go of others of the type: `passed` of the `freed` ones passed it, and none of these `survivors`.
    case likeSiblings(at: SourceFrame, passed: UInt64, freed: UInt64, survivors: UInt64)
    /// A library has the objects. Only the memory of its registration is known.
    case endInLibrary(type: String, hasTimers: Bool)
  }
}
