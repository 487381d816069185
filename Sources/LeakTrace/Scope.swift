// Scopes: objects made inside a scope should be gone after it.

import CLeakTrace

extension LeakTrace {
  /// Runs `body`, and expects the objects that it made to be gone `grace` after it.
  ///
  /// The scope has the objects that the calling thread makes until `body` returns; in a task, the objects that the task
  /// makes. Scopes may be nested. Objects made in an inner scope belong to the outer one as well.
  /// - Parameters:
  ///   - name: Shown with the surviving objects. Use the same name for the same work: the survivors of all its runs are
  ///     one finding.
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

  /// Runs `body` on the caller's actor, and expects the objects that it made to be gone `grace` after it.
  ///
  /// The scope has all objects that the calling task makes until `body` returns, on whichever threads it runs. It also
  /// has the objects of tasks created inside. Objects of other tasks on the same threads do not belong to it.
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

  /// Begins a scope that may end in another function, and in any order relative to other scopes. It belongs to the
  /// calling task, or outside of tasks to the calling thread. A scope that is never ended has no findings.
  @inlinable
  public static func begin(_ name: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line) -> Scope
  {
    guard cleaktrace_is_present() else { return Scope(number: 0) }
    return Scope(number: cleaktrace_scope_begin(name(), text(file), UInt32(clamping: line)))
  }

  /// A scope that was begun. A plain value: copies are the same scope.
  public struct Scope: Hashable, Sendable {
    /// Identifies the scope within the process; 0 if nothing is recorded.
    public let number: UInt64

    @usableFromInline init(number: UInt64) { self.number = number }

    /// Ends the scope, on any task or thread. Only the first end counts.
    @inlinable
    public func end(grace: Duration = .zero) {
      if number != 0 { cleaktrace_scope_end(number, nanoseconds(grace)) }
    }
  }
}
