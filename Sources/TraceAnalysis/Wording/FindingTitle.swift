// Titles of findings.

import HeapAnalysis
import LeakDetection
import TextWriting
import TraceReading
import TraceSymbolication

/// The title of a finding, identical in all reports. Names are unescaped, as in the trace, so renderers must escape the
/// title.
package enum FindingTitle {
  /// Returns the finding's subject in the program's terms. The subject does not depend on the shown instance.
  package static func subject(_ finding: Finding) -> String {
    switch finding.evidence {
    case .unreachable(.cycle, _): return cycle(finding)
    case .unreachable(.suspended, _), .unreachable(.lost, _): return title(finding.path.first, of: finding)
    case .deinitialised: return name(finding.path.last)
    case .suspected, .stated, .repeated, .images: return title(finding.path.last, of: finding)
    case .dangling(let ending):
      if let ending, ending.used != nil { return ending.type }
      return finding.path.first.map { "\($0.type).\($0.reference?.name ?? "?")" } ?? ""
    }
  }

  /// Returns the program's objects on a cycle; if there are none, the libraries' objects; if there are no objects, the
  /// closures.
  private static func cycle(_ finding: Finding) -> String {
    var steps = finding.path.filter { $0.kind == .object && $0.library == nil }
    if steps.isEmpty { steps = finding.path.filter { $0.kind == .object } }
    if steps.isEmpty { steps = finding.path.filter { $0.kind == .closure && $0.function != nil } }
    if steps.isEmpty { steps = finding.path }
    var names: [String] = []
    for name in steps.map({ $0.kind == .closure ? Self.name($0) : $0.type }) where !names.contains(name) {
      names.append(name)
    }
    let all = names.count == 1 ? "\(names[0]) ↺" : names.joined(separator: " ⇄ ")
    guard steps.allSatisfy({ $0.library != nil }) else { return all }
    return all + (finding.subject.map { ", keeping \($0.type)" } ?? origin(finding.path.first))
  }

  /// Returns the name of a step. An object of the program has its type's name. A wrapper is named by the program's
  /// object that it keeps, and by the program's function that made the wrapper.
  private static func title(_ step: Finding.Step?, of finding: Finding) -> String {
    guard let step else { return "" }
    if step.kind == .task { return name(step) + (finding.subject.map { ", keeping \($0.type)" } ?? "") }
    if step.kind == .malloc, finding.verdict == .lost { return block(step, of: finding) }
    guard let subject = finding.subject else {
      return name(step) + (step.kind == .closure && step.library == nil ? "" : origin(step))
    }
    // If the program made a library's object for itself, its developer knows the object by the object's own type name.
    if step.kind == .object, step.ownAllocation == nil, !subject.isValue {
      return "\(name(step)), keeping \(subject.type)"
    }
    return subject.type
      + (step.ownAllocation == nil ? subject.allocation.map { " from \($0.function)" } ?? origin(step) : origin(step))
  }

  /// Returns words for the program's function that called the library that made the object.
  private static func origin(_ step: Finding.Step?) -> String {
    step?.ownAllocation.map { " from \($0.function)" } ?? ""
  }

  /// Returns the range of sizes over all instances, because the size of a single instance could differ in the next run.
  private static func block(_ step: Finding.Step, of finding: Finding) -> String {
    guard !finding.isOfOneSize, let smallest = finding.places.map(\.smallest).min(),
      let largest = finding.places.map(\.largest).max()
    else { return name(step) }
    let (least, most) = (Decimal.bytes(smallest.rawValue), Decimal.bytes(largest.rawValue))
    return "\(least == most ? least : "\(least) to \(most)") of \(step.type)"
  }

  /// Returns a sentence about the wrappers that keep the title's subject; nil if the title already names the wrapper.
  package static func wrapperLine(_ finding: Finding) -> String? {
    guard let subject = finding.subject, finding.verdict != .retainCycle else { return nil }
    guard let step = finding.evidence.retention == nil ? finding.path.first : finding.path.last, step.kind != .task
    else {
      return nil
    }
    if step.kind == .object, step.ownAllocation == nil, !subject.isValue { return nil }
    if subject.isValue { return "Each has \(Self.withArticle(name(step)))." }
    let wrapper = step.kind == .closure && step.function != nil ? name(step) : Self.withArticle(name(step))
    guard let count = subject.count, count != UInt64(clamping: finding.instances) else {
      return "\(finding.instances == 1 ? "It is" : "Each is") kept by \(wrapper)."
    }
    return
      "\(Decimal.counted(count, "object")), kept by \(Decimal.grouped(UInt64(clamping: finding.instances))) × \(name(step))."
  }

  private static func withArticle(_ name: String) -> String {
    ("AEIOUaeiou".contains(name.first ?? " ") ? "an " : "a ") + name
  }

  /// Returns the size of a finding, such as `2 instances, 96 B retained`.
  package static func extent(_ finding: Finding) -> String {
    let instances = Decimal.counted(UInt64(max(0, finding.instances)), "instance")
    return finding.verdict == .dangling
      ? instances : "\(instances), \(Decimal.bytes(finding.retainedBytes.rawValue)) retained"
  }

  package static func name(_ step: Finding.Step?) -> String {
    guard let step else { return "" }
    let name = nameAlone(step)
    return step.omittedBefore.map { "\(Decimal.grouped(UInt64(max(0, $0 + 1)))) more, the last of them \(name)" }
      ?? name
  }

  private static func nameAlone(_ step: Finding.Step) -> String {
    switch step.kind {
    case .closure: return step.function?.closureTitle ?? "closure context"
    case .box: return "box of a captured variable"
    case .malloc: return "\(Decimal.bytes(step.size.rawValue)) of \(step.type)"
    case .task: return task(step)
    default: return step.type
    }
  }

  /// Names a task by the function that it waits in. If a library owns that function, names the task by the program's
  /// function that started it.
  private static func task(_ step: Finding.Step) -> String {
    if let function = step.code, function.kind == .user || step.place == nil {
      return "Task in \(function.closureName)"
    }
    return step.place.map { "Task from \($0.closureName)" } ?? "Task"
  }
}
