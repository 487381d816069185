// Scopes: objects made inside a scope should be gone after it.

import CLeakTrace

extension LeakTrace {
  /// Runs `body`, and expects the objects that `body` made to be gone `grace` after it.
  ///
  /// The objects that the calling thread makes until `body` returns belong to the scope; in a task, the objects that
  /// the task makes. Scopes may be nested. Objects made in an inner scope also belong to the outer scope.
  /// - Parameters:
  ///   - name: Shown with the surviving objects. Use the same name for the same work, so that the survivors of all its
  ///     runs become one finding.
  ///   - grace: How long objects may outlive `body`, for instance because other tasks have to finish first.
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

  /// Runs `body` on the caller's actor, and expects the objects that `body` made to be gone `grace` after it.
  ///
  /// All objects that the calling task makes until `body` returns belong to the scope, whatever threads the task runs
  /// on. The objects of tasks created inside the scope belong to it as well. Objects of other tasks on the same threads
  /// do not.
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

  /// Begins a scope that may end in another function, and before or after any other scope. The scope belongs to the
  /// calling task, or outside of tasks to the calling thread. A scope that is never ended has no findings.
  @inlinable
  public static func begin(_ name: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line) -> Scope
  {
    guard cleaktrace_is_present() else { return Scope(number: 0) }
    return Scope(number: cleaktrace_scope_begin(name(), text(file), UInt32(clamping: line)))
  }

  /// A scope that was begun. This is a plain value; all copies mean the same scope.
  public struct Scope: Hashable, Sendable {
    /// Identifies the scope within the process; 0 if nothing is recorded.
    public let number: UInt64

    @usableFromInline init(number: UInt64) { self.number = number }

    /// Ends the scope. May be called in any task or thread. Only the first call counts.
    @inlinable
    public func end(grace: Duration = .zero) {
      if number != 0 { cleaktrace_scope_end(number, nanoseconds(grace)) }
    }
  }
}
