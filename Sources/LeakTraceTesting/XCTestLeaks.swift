// Leak and growth checks for XCTest.

#if canImport(XCTest)
  import LeakTrace
  public import XCTest

  /// Runs `body`, and fails the test if objects that `body` made are leaked afterwards. If the tests are not recorded,
  /// only runs `body`.
  ///
  /// `limits`: the number of leaked instances to allow, by the name of a type on their path, without its module.
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

  /// Async variant.
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

  /// Runs `body` `rounds` times. Fails the test if a holder has more of the objects that `body` made after every round
  /// from the third on. If the tests are not recorded, `body` runs once. With fewer than five rounds, the test fails,
  /// since growth cannot be judged.
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

  /// Async variant.
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

  /// Overwrites the task memory where returned functions kept their variables. Those words would look like references.
  @inline(never)
  private func overwriteFrames(_ count: Int) async {
    let zeros = zeroWords()
    if count > 0 { await overwriteFrames(count - 1) }
    keepWords(zeros)
  }

  @inline(never) private func zeroWords() -> SIMD32<UInt64> { .zero }
  @inline(never) private func keepWords(_ words: SIMD32<UInt64>) { withExtendedLifetime(words) {} }

  extension XCTestCase {
    /// Fails the test if an object that the test makes after this call is leaked. Call this function in `setUp` or at
    /// the start of a test. The check runs with the test's teardown blocks.
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
