// Compares findings with the expected ones. The functions are pure; the result is the text of the mismatches.

enum FindingComparison {
  /// Returns a line for each difference, or none if the findings are the expected ones.
  ///
  /// The order of findings does not matter, and a cycle may begin at any member. Hidden findings are ignored unless
  /// they are expected.
  static func mismatches(expected: [ExpectedFinding], found: [ReportedFinding]) -> [String] {
    var missing = expected
    var extra = found
    remove(matching: { $0.count == $1.instances && differences($0, $1).isEmpty }, from: &missing, &extra)
    remove(matching: { differences($0, $1).isEmpty }, from: &missing, &extra)
    // A missing and an extra finding with the same path are shown together, with their differences.
    var lines: [String] = []
    remove(
      matching: { expected, found in
        guard pathsMatch(expected, found) else { return false }
        lines.append("\(text(found)): " + differences(expected, found).joined(separator: ", "))
        return true
      }, from: &missing, &extra)
    lines += missing.map { "missing: \(text($0))" }
    lines += extra.filter { $0.hidden != true }.map { "unexpected: \(text($0))" }
    return lines
  }

  private static func remove(
    matching matches: (ExpectedFinding, ReportedFinding) -> Bool, from expected: inout [ExpectedFinding],
    _ found: inout [ReportedFinding]
  ) {
    expected.removeAll { expectation in
      guard let index = found.firstIndex(where: { matches(expectation, $0) }) else { return false }
      found.remove(at: index)
      return true
    }
  }

  /// Returns the differences between a finding and an expected finding.
  private static func differences(_ expected: ExpectedFinding, _ found: ReportedFinding) -> [String] {
    var result: [String] = []
    func compare<Value: Equatable>(_ name: String, _ expected: Value, _ found: Value) {
      if expected != found { result.append("\(name) \(found), expected \(expected)") }
    }
    compare("verdict", expected.verdict.rawValue, found.verdict)
    compare("library", expected.library, found.library)
    compare("instances", expected.count, found.instances)
    if let objects = expected.retainedObjects { compare("retained objects", objects, found.retainedObjects ?? -1) }
    if !pathsMatch(expected, found) { result.append("path") }
    return result
  }

  static func pathsMatch(_ expected: ExpectedFinding, _ found: ReportedFinding) -> Bool {
    let isCycle = expected.verdict == .retainCycle
    let pattern = expected.members.indices.map { index in
      (
        member: expected.members[index],
        edge: index < expected.edges.count ? expected.edges[index] : ExpectedFinding.anyName
      )
    }
    let steps = found.path.map { (member: $0.member, edge: $0.edge) }
    guard isCycle, steps.count > 1 else { return matches(pattern, steps[...], isCycle: isCycle) }
    let twice = steps + steps
    return steps.indices.contains { matches(pattern, twice[$0..<$0 + steps.count], isCycle: true) }
  }

  /// Whether the pattern matches all the steps.
  ///
  /// - Complexity: O(*n* · *m*) for *n* steps and a pattern of *m*.
  private static func matches(
    _ pattern: [(member: String, edge: String)],
    _ steps: ArraySlice<(member: String, edge: ReportedFinding.Step.Edge?)>, isCycle: Bool
  ) -> Bool {
    // reached[k]: whether the first k elements of the pattern match the steps so far.
    var reached = [true] + Array(repeating: false, count: pattern.count)
    func skipGaps() {
      for index in pattern.indices where reached[index] && pattern[index].member == ExpectedFinding.anySteps {
        reached[index + 1] = true
      }
    }
    skipGaps()
    for position in steps.indices {
      var next = Array(repeating: false, count: pattern.count + 1)
      for (index, wanted) in pattern.enumerated() where reached[index] {
        if wanted.member == ExpectedFinding.anySteps {
          next[index] = true
        } else if wanted.member == steps[position].member {
          let edgeCounts = isCycle || position + 1 < steps.endIndex
          next[index + 1] = !edgeCounts || isEdge(steps[position].edge, wanted.edge)
        }
      }
      reached = next
      skipGaps()
    }
    return reached[pattern.count]
  }

  /// The case of an enumeration is compared only if the expected edge has one.
  private static func isEdge(_ edge: ReportedFinding.Step.Edge?, _ wanted: String) -> Bool {
    wanted == ExpectedFinding.anyName || wanted == edge?.name ?? "" || wanted == edge?.fullName
  }

  // MARK: Text

  static func text(_ finding: ExpectedFinding) -> String {
    let steps = finding.members.indices.map { index in
      step(
        finding.members[index], index < finding.edges.count ? finding.edges[index] : "",
        isLast: index + 1 == finding.members.count,
        isCycle: finding.verdict == .retainCycle)
    }
    return text(finding.count, finding.verdict.rawValue, library: finding.library, steps)
  }

  static func text(_ finding: ReportedFinding) -> String {
    let steps = finding.path.enumerated().map { index, element in
      step(
        element.member, element.edge?.fullName ?? "", isLast: index + 1 == finding.path.count,
        isCycle: finding.verdict == Verdict.retainCycle.rawValue)
    }
    return text(finding.instances, finding.verdict, library: finding.library, steps)
  }

  private static func step(_ member: String, _ edge: String, isLast: Bool, isCycle: Bool) -> String {
    if member == ExpectedFinding.anySteps || (isLast && !isCycle) { return member }
    return "\(member) .\(edge)"
  }

  private static func text(_ count: Int, _ verdict: String, library: Bool, _ steps: [String]) -> String {
    "\(count) × \(verdict)\(library ? " (library)" : "") \(steps.joined(separator: " → "))"
  }
}
