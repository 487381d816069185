// `.noGrowth`: tests that fail when what they do leaves more behind each time.

#if canImport(Testing)
  import LeakTrace
  public import Testing

  /// Runs a test several times over when it is recorded, and fails it when the same holder has more of what the test
  /// made after every round from the third on: leaks that something still leads to. If the tests are not recorded, the
  /// test runs once, as it would without.
  ///
  /// ```swift
  /// @Test(.noGrowth) func opensAndClosesAScreen() async { … }
  /// ```
  /// Made by it is what the test's task made, and the tasks that were made there. Each round takes a heap image, and
  /// the rounds are analysed in the end: a second or two, more in large programs. On a suite it is meant for each of
  /// its tests.
  public struct NoGrowthTrait: TestTrait, SuiteTrait, TestScoping {
    let rounds: Int

    public var isRecursive: Bool { true }

    public func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { testCase != nil ? self : nil }

    public func provideScope(
      for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
      guard LeakTrace.isTracing else { return try await function() }
      let place = test.sourceLocation
      // In a task of its own, to which all that is made belongs.
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
    /// Nothing may grow with each time that the test runs; it runs six times when it is recorded.
    public static var noGrowth: Self { noGrowth(repeating: 6) }

    /// Nothing may grow with each of so many rounds. Fewer than five say nothing, and fail.
    public static func noGrowth(repeating rounds: Int) -> Self { NoGrowthTrait(rounds: rounds) }
  }
#endif
