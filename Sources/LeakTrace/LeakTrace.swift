// Statements of a program about its objects' lifetimes, for the recorder that traces it.

import CLeakTrace

/// Says to `leaktrace record` what a program expects of its objects: that what a piece of work made is gone after it,
/// that an object goes soon, that a phase is over.
///
/// A program may link this and ship it. Without a recorder every call is one load and one branch, and its arguments are
/// not evaluated. With one, a call writes a few dozen bytes to the trace; the verdicts are `leaktrace analyze`'s. All
/// of it can be used from any thread and task.
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

  /// Writes a heap image to the trace, in which `analyze --snapshot` looks for leaks; `label` names it. Returns when
  /// the other threads run again, while the image is being written; waits for one that is. Its number, or nil without a
  /// recorder or when it could not be taken.
  @inlinable @discardableResult
  public static func snapshot(_ label: @autoclosure () -> String = "") -> Int? {
    guard cleaktrace_is_present() else { return nil }
    let number = cleaktrace_snapshot(label())
    return number > 0 ? Int(number) : nil
  }

  /// A new generation begins: what is made from here on is told from what was made before, and what of an older
  /// generation is still there, and grows with each, stands out.
  @inlinable
  public static func mark(_ name: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line) {
    guard cleaktrace_is_present() else { return }
    cleaktrace_mark(name(), text(file), UInt32(clamping: line))
  }

  /// Expects the object's memory to be freed within `limit` from now. If it is not, the expectation is broken, whatever
  /// becomes of the object later, and a heap image of that time shows what kept it.
  ///
  /// The object is not retained, nor looked at later. Its memory may outlive its `deinit` while unowned references are
  /// left: that breaks the expectation, too.
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

  /// `StaticString` ends with a zero.
  @usableFromInline static func text(_ file: StaticString) -> UnsafePointer<CChar>? {
    guard file.hasPointerRepresentation else { return nil }
    return UnsafeRawPointer(file.utf8Start).assumingMemoryBound(to: CChar.self)
  }

  /// 0 for what is negative, and some 584 years for what does not fit: one less than "for ever", which is said by
  /// UInt64.max.
  @usableFromInline static func nanoseconds(_ duration: Duration) -> UInt64 {
    let (seconds, attoseconds) = duration.components
    if seconds < 0 || attoseconds < 0 { return 0 }
    let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, carry) = whole.addingReportingOverflow(UInt64(attoseconds / 1_000_000_000))
    return overflow || carry ? .max - 1 : min(sum, .max - 1)
  }
}
