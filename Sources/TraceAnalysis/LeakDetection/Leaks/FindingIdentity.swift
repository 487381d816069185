// The features that identify a finding, without addresses, lines and other numbers that change.

import TraceReading
import TraceSymbolication

/// Everything that identifies a finding, in parts: the verdict, and the kinds, types, allocating functions and edges
/// along the path.
package struct FindingIdentity: Sendable {
  /// The verdict, the owner, and the program's own statement about the objects.
  package var head: [String]
  /// The features of each object of the path: kind, type, allocating function, closure, and the name and strength of
  /// the reference to the next object.
  package var steps: [[String]]
  /// True if the path is a cycle, so that any step may come first.
  package var isCycle: Bool
  /// Other distinguishing features: the holder, or the code that used the object after its end.
  package var tail: [String]

  package init(head: [String], steps: [[String]], isCycle: Bool, tail: [String]) {
    self.head = head
    self.steps = steps
    self.isCycle = isCycle
    self.tail = tail
  }

  package init(_ finding: Finding) {
    // Objects that accumulate differ from objects that outlive their siblings only in numbers.
    head = [
      (finding.verdict == .accumulating ? .outlived : finding.verdict).rawValue, finding.isLibrary ? "library" : "",
    ]
    head += Self.parts(of: finding.evidence)
    steps = []
    tail = []
    isCycle = finding.evidence.isCycle
    if let retention = finding.evidence.retention, let last = finding.path.last {
      // A library often owns the path between the holder and the object, and this path may differ between runs. If a
      // field or variable keeps such objects, it is the cause, regardless of the functions that made the objects.
      // Timers and observers are distinguished by the objects that they keep. If several functions make the objects,
      // chance decides which of them made the shown object.
      let isIdentifiedByHolder = retention.registration == nil || retention.isMadeInSeveralPlaces == true
      steps = [
        [
          last.kind.key, StableName.of(last.qualifiedType), isIdentifiedByHolder ? "" : StableName.of(last.allocation),
          "",
          "", "",
        ]
      ]
      tail = [StableName.of(retention.holder)]
      return
    }
    steps = finding.path.map { step in
      // A capture's name comes from debug information, which another build may lack.
      let reference = step.reference.map { [$0.isCapture ? "capture" : $0.name, $0.strength.key] } ?? ["", ""]
      // A task is identified by the function that it waits in, since one function may start many tasks that wait for
      // different things.
      let function =
        step.kind == .closure || step.kind == .task
        ? StableName.of(step.function) : StableName.of(step.reference?.closure)
      // A collection's memory is allocated where the collection happens to grow.
      let isCollection = isCycle && [.array, .dictionary, .set].contains(step.kind)
      return [
        step.kind.key, StableName.of(step.qualifiedType), isCollection ? "" : StableName.of(step.allocation), function,
      ] + reference
    }
    // Without a holder, only the code that used the object identifies the finding.
    if case .dangling(let ending?) = finding.evidence, let used = ending.used, finding.path.count == 1,
      finding.path[0].reference == nil
    {
      tail = ["used", StableName.of(used.frame)]
    }
  }

  /// Returns the features of the evidence that distinguish findings of one verdict.
  private static func parts(of evidence: Finding.Evidence) -> [String] {
    switch evidence {
    case .unreachable: evidence.isDoubtful ? ["number"] : []
    case .stated(.scope(let scope), _): ["scope", scope.place.name]
    case .stated(.expectation(let expectation), _): ["expectation", name(of: expectation.place)]
    case .repeated(let rounds, _, _): ["repetition", name(of: rounds.place)]
    case .images: ["images"]
    case .deinitialised, .dangling, .suspected: []
    }
  }

  /// Returns the name of a place, or its file if it has no name. A line number could change with the next build.
  private static func name(of place: MarkPlace) -> String { place.name.isEmpty ? place.file : place.name }

  /// The identity without the function that made the first object, if that function is not the cause.
  ///
  /// The first object of a cycle is its oldest. If one function made all objects of the cycle, that function is the
  /// cause. Otherwise, another function that made some of the objects is the cause (an initialiser, a method, a
  /// package's function), or a closure that closes the cycle. The function that made the first object does not matter
  /// then.
  var cause: FindingIdentity {
    guard isCycle, let place = steps.first?[2] else { return self }
    let isTiedWithin = steps.contains { !$0[3].isEmpty || !$0[2].isEmpty && $0[2] != place }
    guard isTiedWithin else { return self }
    var cause = self
    for index in steps.indices where steps[index][2] == place { cause.steps[index][2] = "" }
    return cause
  }

  /// All parts in order. A cycle is rotated so that its parts sort first. Two findings with equal parts are one finding
  /// at one place. Two findings whose `cause` has equal parts are one finding, at any place. O(steps²) for a cycle.
  package var parts: [String] {
    var best = steps
    if isCycle {
      for start in steps.indices.dropFirst() {
        let rotation = Array(steps[start...] + steps[..<start])
        if rotation.lexicographicallyPrecedes(best, by: { $0.lexicographicallyPrecedes($1) }) { best = rotation }
      }
    }
    return head + best.flatMap { $0 } + tail
  }

  /// The FNV-1a hash of the cause's parts: 64 bits, in hexadecimal.
  var fingerprint: String {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for part in cause.parts {
      for byte in part.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
      hash = (hash ^ 0xFF) &* 0x100_0000_01B3
    }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
