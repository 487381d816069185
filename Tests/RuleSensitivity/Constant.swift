// The constants that decide suspicions, and other values for each.

import Foundation
import LeakDetection

/// A constant of the rules.
struct Constant: Sendable {
  var name: String
  /// As people read it.
  var value: @Sendable (SurvivorRules) -> String
  /// The same rules with other values of the constant: lower and higher ones, near and far.
  var moved: @Sendable (SurvivorRules) -> [SurvivorRules]
}

extension Constant {
  /// Objects, siblings, calls, threads: whole numbers, moved by one and by factors of two and of eight.
  private static func count<Value: FixedWidthInteger & Sendable>(
    _ name: String, _ path: WritableKeyPath<SurvivorRules, Value> & Sendable
  ) -> Constant {
    Constant(name: name, value: { "\($0[keyPath: path])" }) { rules in
      let value = rules[keyPath: path]
      let lower = value > 1 ? [max(1, value / 8), max(1, value / 2), value - 1] : [0]
      return Set(lower + [value + 1, value * 2, value * 8]).subtracting([value]).sorted()
        .map { set(path, to: $0, in: rules) }
    }
  }

  /// Points: moved by two, to the half and to 0. They keep their sign.
  private static func points(
    _ name: String, _ path: WritableKeyPath<SurvivorRules, Int> & Sendable
  ) -> Constant {
    Constant(name: name, value: { "\($0[keyPath: path])" }) { rules in
      let value = rules[keyPath: path]
      return Set([value - 2, value + 2, value / 2, 0]).subtracting([value]).sorted()
        .filter { value < 0 ? $0 <= 0 : $0 >= 0 }
        .map { set(path, to: $0, in: rules) }
    }
  }

  /// The rules with other values, given as `NAME=NUMBER`; nil for another name, or a value that is no number.
  static func rules(with settings: [String], of rules: SurvivorRules) -> SurvivorRules? {
    var rules = rules
    for setting in settings {
      let parts = setting.split(separator: "=", maxSplits: 1)
      guard parts.count == 2, let value = Int(parts[1]), let path = pathOfPoints(String(parts[0])) else { return nil }
      rules[keyPath: path] = value
    }
    return rules
  }

  private static func pathOfPoints(_ name: String) -> WritableKeyPath<SurvivorRules, Int>? {
    if name == "minPoints" { return \.minPoints }
    let parts = name.split(separator: ".").map(String.init)
    guard parts.count == 3, parts[0] == "points", let rule = SuspicionRule(rawValue: parts[1]) else { return nil }
    return parts[2] == "supports" ? \.points[rule].supports : \.points[rule].weakens
  }

  /// Numbers above 1: moved by a quarter and by factors of two and of eight.
  private static func factor(_ name: String, _ path: WritableKeyPath<SurvivorRules, Double> & Sendable) -> Constant {
    Constant(name: name, value: { shown($0[keyPath: path]) }) { rules in
      [0.125, 0.5, 0.8, 1.25, 2, 8].map { set(path, to: rules[keyPath: path] * $0, in: rules) }
    }
  }

  /// Parts of a whole: the distance to the nearer end, 0 or 1, is moved by a quarter and by a factor of two, and the part
  /// to both ends, where the rule holds always or never.
  private static func share(_ name: String, _ path: WritableKeyPath<SurvivorRules, Double> & Sendable) -> Constant {
    Constant(name: name, value: { shown($0[keyPath: path]) }) { rules in
      let value = rules[keyPath: path]
      let factors = [0.5, 0.8, 1.25, 2]
      let values = value <= 0.5 ? factors.map { value * $0 } : factors.reversed().map { 1 - (1 - value) * $0 }
      return ([0] + values + [1]).map { set(path, to: $0, in: rules) }
    }
  }

  /// Probabilities: moved by factors of three, of ten and of a thousand.
  private static func odds(_ name: String, _ path: WritableKeyPath<SurvivorRules, Double> & Sendable) -> Constant {
    Constant(name: name, value: { shown($0[keyPath: path]) }) { rules in
      [0.001, 0.1, 1.0 / 3, 3, 10, 1_000].map { set(path, to: rules[keyPath: path] * $0, in: rules) }
    }
  }

  /// Parts of a span: moved to and fro.
  private static func span(_ name: String, _ path: WritableKeyPath<SurvivorRules, ClosedRange<Double>> & Sendable)
    -> Constant
  {
    Constant(name: name, value: { "\(shown($0[keyPath: path].lowerBound)) to \(shown($0[keyPath: path].upperBound))" })
    { rules in
      let span = rules[keyPath: path]
      return [-0.2, -0.1, -0.05, 0.05, 0.1, 0.2].map { shift in
        let (lower, upper) = (max(0, span.lowerBound + shift), min(1, span.upperBound + shift))
        return set(path, to: lower...max(lower, upper), in: rules)
      }
    }
  }

  /// Four digits.
  private static func shown(_ value: Double) -> String { String(format: "%.4g", value) }

  private static func set<Value>(
    _ path: WritableKeyPath<SurvivorRules, Value>, to value: Value, in rules: SurvivorRules
  ) -> SurvivorRules {
    var rules = rules
    rules[keyPath: path] = value
    return rules
  }

  /// All of them but points, in the order of `SurvivorRules`.
  static let all: [Constant] = [
    .count("minOutlived", \.minOutlived),
    .count("minEnded", \.minEnded),
    .share("minEndedShare", \.minEndedShare),
    .factor("ageFactor", \.ageFactor),
    .share("maxUnusualShare", \.maxUnusualShare),
    .factor("workAloneFactor", \.workAloneFactor),
    .share("pausedShare", \.pausedShare),
    .count("minEndedForPause", \.minEndedForPause),
    .share("maxShare", \.maxShare),
    .share("minOldShare", \.minOldShare),
    .factor("minIntervalsLived", \.minIntervalsLived),
    .share("scopedShare", \.scopedShare),
    .share("minScopeChanges", \.minScopeChanges),
    .factor("minYoungerEnded", \.minYoungerEnded),
    .odds("strongOdds", \.strongOdds),
    .odds("strongOddsByAgeAlone", \.strongOddsByAgeAlone),
    .factor("maxAgeRatio", \.maxAgeRatio),
    .count("minEndedInScope", \.minEndedInScope),
    .share("minEndedInScopeShare", \.minEndedInScopeShare),
    .share("typicalShare", \.typicalShare),
    .share("ownOfStructure", \.ownOfStructure),
    .span("early", \.early),
    .span("late", \.late),
    .share("minAdded", \.minAdded),
    .share("minMadeLater", \.minMadeLater),
    .factor("keptIntervals", \.keptIntervals),
    .share("ownedShare", \.ownedShare),
    .share("maxLeftOverShare", \.maxLeftOverShare),
    .share("earlierGeneration", \.earlierGeneration),
    .count("severalSurvivors", \.severalSurvivors),
    .count("ownOfLink", \.ownOfLink),
    .share("evenShare", \.evenShare),
    .count("minScopeRuns", \.minScopeRuns),
    .share("maxSpanOfPart", \.maxSpanOfPart),
    .share("minShareOfFamily", \.minShareOfFamily),
    .share("minRemainingWork", \.minRemainingWork),
    .share("minConcurrency", \.minConcurrency),
    .share("minInOrder", \.minInOrder),
    .share("maxUsedInQueue", \.maxUsedInQueue),
    .share("maxLagOfQueue", \.maxLagOfQueue),
    .count("minRegistered", \.minRegistered),
    .count("minPendingTasks", \.minPendingTasks),
    .share("minFirstWait", \.minFirstWait),
    .share("minOwnedSpan", \.minOwnedSpan),
    .share("minAsleep", \.minAsleep),
    .share("minRegisteredSpread", \.minRegisteredSpread),
    .count("minMakers", \.minMakers),
    .count("minCalledBack", \.minCalledBack),
    .count("strongCalledBack", \.strongCalledBack),
    .count("minThreads", \.minThreads),
    .count("minLooped", \.minLooped),
    .count("strongLooped", \.strongLooped),
    .share("minCalledBackSpread", \.minCalledBackSpread),
    .share("minLoopedSpread", \.minLoopedSpread),
    .share("minQuarter", \.minQuarter),
    .share("maxLead", \.maxLead),
    .share("maxLag", \.maxLag),
    .share("minUnendingSpan", \.minUnendingSpan),
    .share("minQuarterOfQueue", \.minQuarterOfQueue),
    .count("minForQuarters", \.minForQuarters),
    .share("chainShare", \.chainShare),
    .factor("minWorkOfLink", \.minWorkOfLink),
    .factor("roomOfGrown", \.roomOfGrown),
    .share("usedShare", \.usedShare),
    .share("minUsePhase", \.minUsePhase),
    .share("maxLagOfLooped", \.maxLagOfLooped),
    .share("maxSingleShare", \.maxSingleShare),
    .share("minSpanOfUse", \.minSpanOfUse),
    .count("minUseOctaves", \.minUseOctaves),
    .points("minPoints", \.minPoints),
  ]

  /// The points of each rule, where it has some: `points.many.weakens`.
  static let points: [Constant] = SurvivorRules.standard.points.rules.flatMap { rule in
    let pair = SurvivorRules.standard.points[rule]
    return (pair.supports == 0 ? [] : [points("points.\(rule.rawValue).supports", \.points[rule].supports)])
      + (pair.weakens == 0 ? [] : [points("points.\(rule.rawValue).weakens", \.points[rule].weakens)])
  }

  /// Constants of the rules that have no entry in `all`, and entries that are no constants. It must be empty.
  static var unlisted: [String] {
    let known = Set(Mirror(reflecting: SurvivorRules.standard).children.compactMap(\.label))
    return known.symmetricDifference(all.map(\.name) + ["points"]).sorted()
  }
}
