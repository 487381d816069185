// The same for XCTest.

#if canImport(XCTest)
  import LeakTrace
  public import XCTest

  /// Runs `body`, and fails the test when objects that it made are leaked afterwards. Where the tests are not recorded
  /// it only runs it.
  ///
  /// `limits`: how many instances of leaks may be there, by the name of a type that takes part in them, without its
  /// module.
  public func XCTAssertNoLeaks<Result>(
    allowing limits: [String: Int] = [:], file: StaticString = #filePath, line: UInt = #line,
    _ body: () throws -> Result
  ) rethrows -> Result {
    guard let check = LeakCheck("XCTAssertNoLeaks", file: "\(file)", line: Int(line)) else { return try body() }
    let result: Result
    do {
      defer { check.end() }
      result = try body()
    }
    for failure in check.failures(allowing: limits) { XCTFail(failure, file: file, line: line) }
    return result
  }

  /// The same for what suspends.
  public func XCTAssertNoLeaks<Result>(
    allowing limits: [String: Int] = [:], file: StaticString = #filePath, line: UInt = #line,
    isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Result
  ) async rethrows -> Result {
    guard let check = LeakCheck("XCTAssertNoLeaks", file: "\(file)", line: Int(line)) else { return try await body() }
    let result: Result
    do {
      defer { check.end() }
      result = try await body()
    }
    await overwriteFrames(64)
    for failure in check.failures(allowing: limits) { XCTFail(failure, file: file, line: line) }
    return result
  }

  /// Runs `body` so many times over, and fails the test when the same holder has more of what it made after every round
  /// from the third on. Where the tests are not recorded it runs once. Fewer than five rounds say nothing, and fail.
  public func XCTAssertNoGrowth(
    repeating rounds: Int = 6, file: StaticString = #filePath, line: UInt = #line, _ body: () throws -> Void
  ) rethrows {
    guard var check = GrowthCheck("XCTAssertNoGrowth", file: "\(file)", line: Int(line)) else { return try body() }
    do {
      defer { check.end() }
      var round = 1
      while round <= rounds {
        try body()
        check.end(round: round)
        round += 1
      }
    }
    for failure in check.failures() { XCTFail(failure, file: file, line: line) }
  }

  /// The same for what suspends.
  public func XCTAssertNoGrowth(
    repeating rounds: Int = 6, file: StaticString = #filePath, line: UInt = #line,
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void
  ) async rethrows {
    guard var check = GrowthCheck("XCTAssertNoGrowth", file: "\(file)", line: Int(line)) else {
      return try await body()
    }
    do {
      defer { check.end() }
      var round = 1
      while round <= rounds {
        try await body()
        check.end(round: round)
        round += 1
      }
    }
    for failure in check.failures() { XCTFail(failure, file: file, line: line) }
  }

  /// Overwrites the memory of the task in which functions that have returned kept their variables: those would look
  /// like references.
  @inline(never)
  private func overwriteFrames(_ count: Int) async {
    let zeros = zeroWords()
    if count > 0 { await overwriteFrames(count - 1) }
    keepWords(zeros)
  }

  @inline(never) private func zeroWords() -> SIMD32<UInt64> { .zero }
  @inline(never) private func keepWords(_ words: SIMD32<UInt64>) { withExtendedLifetime(words) {} }

  extension XCTestCase {
    /// From here to the end of the test nothing that is made may be leaked. To be called in `setUp` or at the beginning
    /// of a test; looks when the test's teardown blocks run.
    public func expectNoLeaks(allowing limits: [String: Int] = [:], file: StaticString = #filePath, line: UInt = #line)
    {
      guard let check = LeakCheck(name, file: "\(file)", line: Int(line)) else { return }
      addTeardownBlock {
        check.end()
        for failure in check.failures(allowing: limits) { XCTFail(failure, file: file, line: line) }
      }
    }
  }
#endif
