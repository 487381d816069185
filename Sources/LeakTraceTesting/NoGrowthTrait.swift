// `.noGrowth`: fails tests that leave more objects behind on each run.

#if canImport(Testing)
  import LeakTrace
  public import Testing

  /// Detects leaked objects that are still reachable. If a test is recorded, the trait runs the test several times. The
  /// test fails if a holder has more of the test's objects after every round from the third on. If the tests are not
  /// recorded, the test runs once, as without the trait.
  ///
  /// ```swift
  /// @Test(.noGrowth) func opensAndClosesAScreen() async { … }
  /// ```
  /// The objects of the test's task count, and the objects of tasks created in it. A heap image is taken after each
  /// round. The images are analysed at the end, which takes a second or two, and longer in large programs. On a suite,
  /// the trait applies to each of its tests.
  public struct NoGrowthTrait: TestTrait, SuiteTrait, TestScoping {
    let rounds: Int

    public var isRecursive: Bool { true }

    public func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { testCase != nil ? self : nil }

    public func provideScope(
      for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
      guard LeakTrace.isTracing else { return try await function() }
      let place = test.sourceLocation
      // Run in a new task, so that all objects of the test belong to it.
      let check = try await withoutActuallyEscaping(function) { function in
        try await withThrowingTaskGroup(of: GrowthCheck?.self) { group in
          group.addTask {
            var check = GrowthCheck(test.name, file: place.fileID, line: place.line)
            defer { check?.end() }
            if check == nil { try await function() }
            var round = 1
            while check != nil, round <= rounds {
              try await function()
              check?.end(round: round)
              round += 1
            }
            return check
          }
          return try await group.next() ?? nil
        }
      }
      guard let check else { return }
      for failure in check.failures() { Issue.record(Comment(rawValue: failure), sourceLocation: place) }
    }
  }

  extension Trait where Self == NoGrowthTrait {
    /// Fails if objects grow in number with each run of the test. A recorded test runs six times.
    public static var noGrowth: Self { noGrowth(repeating: 6) }

    /// Fails if objects grow in number with each of `rounds` runs. With fewer than five rounds, the test fails, since
    /// growth cannot be judged.
    public static func noGrowth(repeating rounds: Int) -> Self { NoGrowthTrait(rounds: rounds) }
  }
#endif
