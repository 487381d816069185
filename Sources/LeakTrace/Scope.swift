// Scopes: what is made inside is to be gone after.

import CLeakTrace

extension LeakTrace {
  /// Runs `body`, and expects the objects that it made to be gone `grace` after it.
  ///
  /// Objects that the calling thread makes until `body` returns belong to the scope; in a task, those that the task
  /// makes. Scopes may be nested; objects made in the inner one belong to both.
  /// - Parameters:
  ///   - name: Shown with the objects that are left. Use the same name for the same work: the objects left of all its
  ///     runs are one finding.
  ///   - grace: The time that objects may outlive `body`, for instance because other tasks finish first.
  @inlinable
  public static func scope<Result: ~Copyable, Failure: Error>(
    _ name: @autoclosure () -> String, grace: Duration = .zero, file: StaticString = #fileID, line: UInt = #line,
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard cleaktrace_is_present() else { return try body() }
    let scope = begin(name(), file: file, line: line)
    defer { scope.end(grace: grace) }
    return try body()
  }

  /// Runs `body` on the caller's actor, and expects what it made to be gone `grace` after it.
  ///
  /// The scope has all objects that the calling task makes until `body` returns, whichever threads it runs on, and those
  /// of the tasks that were made inside. Other tasks on the same threads have no part in it.
  @inlinable
  public static func scope<Result: ~Copyable, Failure: Error>(
    _ name: @autoclosure () -> String, grace: Duration = .zero, file: StaticString = #fileID, line: UInt = #line,
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    guard cleaktrace_is_present() else { return try await body() }
    let scope = begin(name(), file: file, line: line)
    defer { scope.end(grace: grace) }
    return try await body()
  }

  /// Begins a scope that need not end in the same function, nor in the order of others. It belongs to the task that
  /// calls this, or outside of tasks to the calling thread. One that is never ended has no findings.
  @inlinable
  public static func begin(_ name: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line) -> Scope
  {
    guard cleaktrace_is_present() else { return Scope(number: 0) }
    return Scope(number: cleaktrace_scope_begin(name(), text(file), UInt32(clamping: line)))
  }

  /// A scope that was begun. A plain value: copies are the same scope.
  public struct Scope: Hashable, Sendable {
    /// Tells it from the process's other scopes; 0 if nothing is recorded.
    public let number: UInt64

    @usableFromInline init(number: UInt64) { self.number = number }

    /// Ends it, in any task or thread. Only the first end counts.
    @inlinable
    public func end(grace: Duration = .zero) {
      if number != 0 { cleaktrace_scope_end(number, nanoseconds(grace)) }
    }
  }
}
