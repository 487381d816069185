// `.noLeaks`: fails tests whose objects are leaked.

#if canImport(Testing)
  import CLeakTrace
  import LeakTrace
  public import Testing

  /// Fails a test, or a suite as a whole, if objects made in it are leaked: in a retain cycle, or with no reference
  /// left to them. If the tests are not recorded, the trait does nothing.
  ///
  /// ```swift
  /// @Test(.noLeaks) func opensAndCloses() async { … }
  /// ```
  /// The objects of the test's task count, and the objects of tasks created in it. Objects of other tests that run at
  /// the same time do not count.
  ///
  /// After each test, a heap image is written and analysed, which takes a second, and longer in large programs. On a
  /// suite, this is done once, after all its tests. The findings then show where the objects were made, but not which
  /// test made them.
  public struct NoLeaksTrait: TestTrait, SuiteTrait, TestScoping {
    let allowances: [String: Int]

    /// Set while a suite is checked as a whole.
    @TaskLocal private static var isInSuite = false

    /// A suite's trait also applies to its tests, so that each test clears its stack.
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
      // Run in a new task, whose memory is freed when it ends. Otherwise, words that the test's functions left in task
      // memory would look like references.
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
    /// Fails if an object that the test made is leaked.
    public static var noLeaks: Self { NoLeaksTrait(allowances: [:]) }

    /// Allows up to `limits[type]` leaked instances with that type on their path. Type names have no module:
    /// `["Timer": 1]`.
    public static func noLeaks(allowing limits: [String: Int]) -> Self { NoLeaksTrait(allowances: limits) }
  }
#endif
