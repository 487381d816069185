// `.noLeaks`: tests that fail when what they made is leaked.

#if canImport(Testing)
  import CLeakTrace
  import LeakTrace
  public import Testing

  /// Fails a test, or a suite as a whole, when objects that were made in it are leaked: a cycle, or an object that
  /// nothing leads to any more. Where the tests are not recorded, it does nothing.
  ///
  /// ```swift
  /// @Test(.noLeaks) func opensAndCloses() async { … }
  /// ```
  /// Made in it is what the test's task made, and the tasks that were made there; not what other tests made that ran at
  /// the same time.
  /// For each test the heap is written out and analysed: a second, more in large programs. On a suite that is done
  /// once, after all its tests, which are not looked at one by one then: the finding says where the objects were made,
  /// not by which test.
  public struct NoLeaksTrait: TestTrait, SuiteTrait, TestScoping {
    let allowances: [String: Int]

    /// Set while a suite is looked at as a whole.
    @TaskLocal private static var isInSuite = false

    /// Tests of a suite clear up after themselves.
    public var isRecursive: Bool { true }

    public func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? {
      test.isSuite || testCase != nil ? self : nil
    }

    public func provideScope(
      for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
      guard LeakTrace.isTracing else { return try await function() }
      if Self.isInSuite {
        defer { cleaktrace_clear_stack() }
        return try await function()
      }
      let place = test.sourceLocation
      // In a task of its own, whose memory is gone with it: what the test's functions left there would look like
      // references.
      let check = try await withoutActuallyEscaping(function) { function in
        try await withThrowingTaskGroup(of: LeakCheck?.self) { group in
          group.addTask {
            let check = LeakCheck(test.name, file: place.fileID, line: place.line)
            defer {
              check?.end()
              cleaktrace_clear_stack()
            }
            try await Self.$isInSuite.withValue(test.isSuite) { try await function() }
            return check
          }
          return try await group.next() ?? nil
        }
      }
      guard let check else { return }
      for failure in check.failures(allowing: allowances) {
        Issue.record(Comment(rawValue: failure), sourceLocation: place)
      }
    }
  }

  extension Trait where Self == NoLeaksTrait {
    /// Nothing that the test made may be leaked.
    public static var noLeaks: Self { NoLeaksTrait(allowances: [:]) }

    /// As many instances of leaks may be there as `limits` says by the name of a type that takes part in them, without
    /// its module: `["Timer": 1]`.
    public static func noLeaks(allowing limits: [String: Int]) -> Self { NoLeaksTrait(allowances: limits) }
  }
#endif
