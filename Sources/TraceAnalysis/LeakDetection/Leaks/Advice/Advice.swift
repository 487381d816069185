// Advice as values: the change to make, and the names in it.

import TraceSymbolication

/// A change that fixes the cause of a finding, or a place to examine. `AdviceWords` has the sentence for each case.
///
/// Types are written as in source, without modules and generic arguments. A field is written with the type that
/// declares the field: `Room.players`.
package enum Advice: Hashable, Sendable {
  /// A sentence from the platform's rules, or from a digest.
  case sentence(String)
  /// Nothing shows which code requested the memory. A recording from the program's start would show it.
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

  /// The closure that has the capture.
  package enum CaptureSite: Hashable, Sendable {
    case closure(SourceFrame?)
    /// The closure is the code of a task.
    case taskClosure(SourceFrame?)
    /// Only the closure's memory is known. This function gave the closure to a library.
    case passed(by: SourceFrame)
    /// The closure is in the function that starts the task.
    case started(by: SourceFrame)
    /// The closure is at the line that starts the task.
    case startedAt(SourceFrame)
  }

  /// Another way to end a cycle: the holder of the closure releases the closure.
  package enum Release: Hashable, Sendable {
    case clear(String)
    case remove(from: String)
    case finish(String)
  }

  /// A change for a suspended task.
  package enum TaskChange: Hashable, Sendable {
    case endAwaited(at: SourceFrame?)
    case resume(at: SourceFrame?, isJobPossible: Bool)
    /// The line released the last reference that let other code resume the task.
    case givenUp(at: SourceFrame)
    /// `stream`: the field of the stream that the task waits for; nil if no such field is known.
    case breakCycle(at: SourceFrame?, stream: String?, TaskCut)
  }

  /// The reference to cut in a task's cycle.
  package enum TaskCut: Hashable, Sendable {
    case capture(WeakCapture, then: TaskEnd)
    /// A variable of the task keeps an object of this type across an await.
    case variable(type: String)
    case unknown
  }

  /// How the wait ends. The `deinit` of the object that the task kept must do this.
  package enum TaskEnd: Hashable, Sendable {
    case cancelOrFinishStream
    case cancelOrFinishAwaited
    case cancel(String)
    case finish(String)
  }

  /// A change for an unowned reference to an object that has ended.
  package enum UnownedChange: Hashable, Sendable {
    case unknown
    /// `field`: the field that holds the closure; nil if no such field is known.
    case capture(WeakCapture, field: String?)
    /// `owner`: the type of the object with the reference.
    case field(String?, type: String, owner: String?)
  }

  /// A change for an uncounted reference to an object that has ended.
  package enum PointerChange: Hashable, Sendable {
    case clear(Slot?)
    case clearUsed(Slot, type: String, usedAt: SourceFrame?)
    case unregister(type: String, usedAt: SourceFrame?, freedAt: SourceFrame?)
  }

  /// The place of a reference.
  package enum Slot: Hashable, Sendable {
    case field(String)
    /// The name of the field is not known.
    case unnamed(in: String)
  }

  /// A change for memory that nothing refers to.
  package enum LostChange: Hashable, Sendable {
    case balanceTask
    /// `objects`: the objects in the memory. They must be deinitialised before the memory is freed.
    case free(allocatedAt: SourceFrame?, objects: [Finding.HeldType])
    /// `hasHistory`: whether the trace has the object's retains and releases.
    case findRetain(hasHistory: Bool)
    /// `type`: nil for closures and boxes. `isAllocation`: whether the reference is the object's first one.
    case release(type: String?, isAllocation: Bool, at: SourceFrame?)
    /// All other blocks or objects of the allocation site were freed.
    case lookForPath(made: UInt64, freed: UInt64, isMemory: Bool)
  }

  /// A reference to cut in a cycle.
  package enum CycleChange: Hashable, Sendable {
    case clearRing(type: String, field: String)
    case capture(WeakCapture, or: Release?)
    /// `places`: the lines of the closures, as `A.swift:7`, or as `9` for a line in the file of the previous place.
    /// `more`: the number of closures that are not listed.
    case captureInAll(WeakCapture, places: [String], more: Int)
    /// A closure captures the variable that holds the closure.
    case clearVariable(String, closure: SourceFrame?)
    /// The object is captured as a part of another value.
    case captureAlone(WeakCapture, or: Release?)
    /// A local function captures the object. Local functions have no capture list.
    case replaceLocalFunction(SourceFrame, WeakCapture, or: Release?)
    /// `field` holds a method of an object of the type. `setter` is the function that stored the method there.
    case replaceMethod(type: String, setter: SourceFrame, field: String?)
    case makeWeak(String, Container?, owner: String, orClear: String?)
    case removeElement(owner: String, from: Slot)
    /// `isCase`: whether the reference is in a case of an enumeration.
    case clearValue(Slot, owner: String, isCase: Bool)
    case clear(String, of: String)
  }

  /// The field whose collection or value contains the reference.
  package enum Container: Hashable, Sendable {
    case collection(String)
    case value(String)
  }

  /// A change for objects that reachable memory keeps.
  package enum HolderChange: Hashable, Sendable {
    /// No code reads the results of a task group.
    case drain(String)
    /// Only a closure of the registration is left.
    case endClosure(Finding.Registration)
    case end(Finding.Registration, type: String)
    case endAndCapture(Finding.Registration, type: String, WeakCapture?)
    case captureInTask(WeakCapture)
    /// The task's closure has a weak capture. A variable of the task keeps the object across an await.
    case releaseInTask(WeakCapture)
    case cancelTask(type: String)
    /// The field leads to the object or stream that the task awaits.
    case clearAwaited(String)
    /// In this case and in the cases `removeElement` and `clear`, the type is nil for memory and closures.
    case limit(String, type: String?)
    /// Each object of the type keeps another by the field `link`, and `entry` leads to the first.
    case cutList(entry: String, type: String, link: String)
    case removeElement(String, type: String?, WeakCapture?)
    case clear(String, type: String?, WeakCapture?)
    /// `at`: the line that releases other objects of the type. It released `passed` of the `freed` ones, and nearly
    /// none of these `survivors`.
    case likeSiblings(at: SourceFrame, passed: UInt64, freed: UInt64, survivors: UInt64)
    /// A library keeps the objects by a registration. Only the registration's memory is known.
    case endInLibrary(type: String, hasTimers: Bool)
  }
}
