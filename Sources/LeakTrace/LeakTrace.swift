// A program's statements about the lifetimes of its objects, for the recorder that traces it.

import CLeakTrace

/// States a program's expectations of its objects' lifetimes, which `leaktrace record` records. A program can state
/// that the objects of a piece of work are gone after it, that an object is freed soon, or that a phase is over.
///
/// A program may link this module and ship it. Without a recorder, every call is one load and one branch, and its
/// arguments are not evaluated. With a recorder, a call writes a few dozen bytes to the trace, and `leaktrace analyze`
/// judges them later. All functions can be called from any thread and task.
///
/// ```swift
/// try await LeakTrace.scope("checkout") {
///   try await checkout(basket)
/// }
/// LeakTrace.expectDeallocated(screen, within: .seconds(2), "screen closed")
/// ```
public enum LeakTrace {
  /// True if this process is being recorded, and also while the recording is paused.
  @inlinable public static var isTracing: Bool { cleaktrace_is_present() && cleaktrace_trace_path() != nil }

  /// Writes a heap image to the trace. `leaktrace analyze --snapshot` finds the leaks in it; `label` names it.
  ///
  /// If an earlier image is still being written, first waits for it. Returns as soon as the other threads run again,
  /// while this image is still being written.
  /// - Returns: The image's number, or nil without a recorder or if the image could not be taken.
  @inlinable @discardableResult
  public static func snapshot(_ label: @autoclosure () -> String = "") -> Int? {
    guard cleaktrace_is_present() else { return nil }
    let number = cleaktrace_snapshot(label())
    return number > 0 ? Int(number) : nil
  }

  /// Starts a new generation. Reports list surviving objects by generation, and point out objects of older generations
  /// whose number grows with each generation.
  @inlinable
  public static func mark(_ name: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line) {
    guard cleaktrace_is_present() else { return }
    cleaktrace_mark(name(), text(file), UInt32(clamping: line))
  }

  /// Expects the object's memory to be freed within `limit` from now. If it is not, the expectation is broken, even if
  /// the object is freed later. A heap image is taken at that time, which shows what kept the object.
  ///
  /// This does not retain the object, and does not read it later. If unowned references keep the object's memory after
  /// its `deinit`, that also breaks the expectation.
  /// - Parameter name: The action that should end the object; shown with the finding.
  @inlinable
  public static func expectDeallocated(
    _ object: AnyObject, within limit: Duration, _ name: @autoclosure () -> String = "", file: StaticString = #fileID,
    line: UInt = #line
  ) {
    guard cleaktrace_is_present() else { return }
    cleaktrace_expect_deallocated(
      Unmanaged.passUnretained(object).toOpaque(), nanoseconds(limit), name(), text(file), UInt32(clamping: line))
  }

  /// Returns the characters of a string, which end with a zero byte.
  @usableFromInline static func text(_ file: StaticString) -> UnsafePointer<CChar>? {
    guard file.hasPointerRepresentation else { return nil }
    return UnsafeRawPointer(file.utf8Start).assumingMemoryBound(to: CChar.self)
  }

  /// Returns a duration in nanoseconds; 0 for negative durations. Durations that do not fit become `UInt64.max - 1`,
  /// about 584 years, because `UInt64.max` means "for ever".
  @usableFromInline static func nanoseconds(_ duration: Duration) -> UInt64 {
    let (seconds, attoseconds) = duration.components
    if seconds < 0 || attoseconds < 0 { return 0 }
    let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, carry) = whole.addingReportingOverflow(UInt64(attoseconds / 1_000_000_000))
    return overflow || carry ? .max - 1 : min(sum, .max - 1)
  }
}
