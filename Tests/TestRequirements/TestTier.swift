import Glibc
public import Testing

/// The two tiers of the tests. `scripts/test` runs the first tier, and `scripts/test --whole` runs both.
public enum TestTier {
  /// Whether both tiers run.
  public static let isWhole = getenv("LEAKTRACE_TEST_WHOLE") != nil

  /// Returns `all` if both tiers run, and `part` otherwise.
  public static func arguments<Argument>(_ part: [Argument], of all: [Argument]) -> [Argument] {
    isWhole ? all : part
  }

  /// Returns the seeds of random input: all if both tiers run, and otherwise the first quarter, but at least five.
  public static func seeds(_ all: Range<UInt64>) -> [UInt64] {
    isWhole ? Array(all) : Array(all.prefix(max(5, all.count / 4)))
  }
}

extension Trait where Self == ConditionTrait {
  /// Runs a test or a suite only in the second tier.
  public static var secondTier: ConditionTrait { .enabled(if: TestTier.isWhole, "scripts/test --whole runs it") }
}
