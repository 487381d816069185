// Advice for breaking a cycle.

import PlatformRules
import TraceSymbolication

/// Names the reference to cut, and another way for where it has to stay.
struct CycleAdvice {
  private let finding: Finding
  private let cut: CycleCut
  private var path: [Finding.Step] { finding.path }
  private var names: SourceNames { cut.names }

  /// Types that end a cycle by being told to, and what tells them.
  private let types: RuleTable
  /// Fields that keep a closure after it has run.
  private let fields: RuleTable

  init(_ finding: Finding, _ evidence: AdviceEvidence, rules: RuleBook = .shipped) {
    self.finding = finding
    cut = CycleCut(finding, evidence)
    types = rules.table(.cycle, by: .type)
    fields = rules.table(.cycle, by: .field)
  }

  var lines: [String] {
    var lines: [String] = []
    for step in path {
      if let advice = types.statement(for: step.qualifiedType), !lines.contains(advice) { lines.append(advice) }
      if step.kind == .object, let reference = step.reference, let advice = fields.statement(for: reference.name) {
        lines.append(advice)
      }
    }
    if let ring = cut.ring {
      lines.append(
        "The \(SourceNames.plain(ring.type)) objects hold one another in a ring: set \(SourceNames.plain(ring.type)).\(ring.reference?.name ?? "") of one of them to nil when their owner is done, for example in its deinit."
      )
    } else if let link = cut.link, let capture = cut.capture, cut.prefers(link, to: capture) {
      lines.append(breaking(link))
    } else if let capture = cut.capture {
      lines.append(breaking(capture))
    } else if let block = cut.block {
      let variable =
        isMethod(block.frame, of: path[block.target]) ? "self" : "the \(SourceNames.plain(path[block.target].type))"
      lines.append(
        "Capture \(variable) weakly in the closure that \(PlaceWords.function(block.frame)) passes\(PlaceWords.suffix(block.frame))."
      )
    } else if let link = cut.link {
      lines.append(breaking(link))
    } else if lines.isEmpty {
      let fields = path.indices.compactMap { path[$0].kind == .object ? names.field(of: $0) : nil }
      let subject = path.first.map { SourceNames.plain($0.type) } ?? "object"
      if let field = fields.last { lines.append("Clear \(field) when the \(subject) is done.") }
    }
    return lines
  }

  /// A function of the object's class, or a closure in one.
  private func isMethod(_ frame: SourceFrame, of step: Finding.Step) -> Bool {
    PlaceWords.isMethod(frame, of: SourceNames.plain(step.type))
  }

  // MARK: Captures

  private func breaking(_ capture: CycleCut.Capture) -> String {
    let place = PlaceWords.inClosure(capture.closure)
    let object = SourceNames.plain(path[capture.target].type)
    switch capture.how {
    case .itself:
      let closure = PlaceWords.position(capture.closure).map { "at \($0) " } ?? ""
      return
        "The closure \(closure)captures \(capture.variable), the variable that holds it: set \(capture.variable) to nil when the closure has done its work, or make it a local function."
    case .inValue:
      return
        "Capture the \(object) weakly and by itself\(place): it is captured there as a part of another value.\(clearing(capture))"
    case .directly: break
    }
    if let closure = capture.closure, PlaceWords.isLocalFunction(closure) {
      let variable = capture.variable.isEmpty ? "the \(object)" : capture.variable
      return
        "\(closure.closureName)\(PlaceWords.suffix(closure)) is a local function that captures \(variable): store a closure in its place that captures \(variable) weakly\(clearing(capture))"
    }
    if let closure = capture.closure, closure.closureName.hasPrefix(SourceFrame.methodReference) {
      let setter = closure.closureName.dropFirst(SourceFrame.methodReference.count)
      let line = closure.line == nil ? "" : PlaceWords.suffix(closure)
      let holder = capture.holder.flatMap { names.field(of: $0) } ?? "A field"
      return
        "\(holder) holds a method of the \(object), and with it the \(object): in \(setter)\(line), set that to a closure that captures the \(object) weakly."
    }
    let variable = capture.variable.isEmpty ? "the \(object)" : capture.variable
    if let all = allClosures(capture) { return "Capture \(variable) weakly in the closures at \(all)." }
    var list = ""
    // Only variables can stand in a capture list as they are.
    if let dot = variable.lastIndex(of: "."), !capture.variable.isEmpty {
      list = " ([weak \(variable[variable.index(after: dot)...]) = \(variable)])"
    }
    return "Capture \(variable) weakly\(list)\(place)\(clearing(capture))"
  }

  /// The places of all closures that keep the object in the same way, where there are several: `A.swift:7 and 9`; nil
  /// for one.
  private func allClosures(_ capture: CycleCut.Capture) -> String? {
    let closures = cut.evidence.closures(keptByAndKeeping: path[capture.target].address).filter {
      CycleCut.isProgram($0) && $0.line != nil && $0.file != nil && !PlaceWords.isLocalFunction($0)
    }
    guard let shown = capture.closure, closures.count > 1,
      closures.contains(where: { $0.file == shown.file && $0.line == shown.line })
    else { return nil }
    var places: [String] = []
    for (index, closure) in closures.prefix(Self.listedClosures).enumerated() {
      let isSameFile = index > 0 && closures[index - 1].file == closure.file
      guard let place = isSameFile ? closure.line.map(String.init) : PlaceWords.position(closure),
        !places.contains(place)
      else { continue }
      places.append(place)
    }
    guard places.count > 1 else { return nil }
    if closures.count > Self.listedClosures {
      return places.joined(separator: ", ") + ", and \(closures.count - Self.listedClosures) more"
    }
    return places.dropLast().joined(separator: ", ") + " and " + (places.last ?? "")
  }

  /// Places that a sentence has room for.
  private static let listedClosures = 6

  /// The other way, to the end of the sentence.
  private func clearing(_ capture: CycleCut.Capture) -> String {
    let end = capture.how == .inValue ? "" : "."
    guard let holder = capture.holder else { return end }
    let isOfStream = SourceNames.plain(path[holder].type).hasSuffix("Stream._Storage")
    if isOfStream {
      guard let before = names.previous(holder), let field = names.field(of: before) else { return end }
      return capture.how == .inValue
        ? " Or call finish() on \(field)." : ", or call finish() on \(field) when it is done."
    }
    guard let field = names.field(of: holder) else { return end }
    let words = path[holder].kind == .object ? "clear \(field)" : "remove it from \(field)"
    return capture.how == .inValue
      ? " Or \(words) when it is no longer needed." : ", or \(words) when it is no longer needed."
  }

  // MARK: Fields

  private func breaking(_ link: CycleCut.Link) -> String {
    let owner = SourceNames.plain(path[link.to].type)
    if cut.canBeWeak(link) {
      let name: String
      var container = ""
      if link.last == link.from {
        name = "\(SourceNames.plain(path[link.from].type)).\(path[link.from].reference?.name ?? "")"
      } else if let element = names.elementField(of: link.last) {
        name = element
        container = names.field(of: link.last).map { " (in \($0))" } ?? ""
      } else {
        name = path[link.last].reference?.name ?? ""
        container = names.field(of: link.last).map { ", a field of the value in \($0)," } ?? ""
      }
      // The owner's own reference into the cycle, if that is another field.
      let forward = names.field(of: link.to).flatMap { $0 == name ? nil : $0 }
      return "Make \(name)\(container) weak, or clear \(forward ?? "it") when the \(owner) is done."
    }
    let field = names.field(of: link.last) ?? "the reference in \(SourceNames.plain(path[link.from].type))"
    let last = path[link.last]
    if last.kind == .array || last.kind == .set || last.kind == .dictionary, path[link.last].reference?.caseName == nil
    {
      return
        "Remove the \(owner) from \(field) when it is done, or store a small object there that refers to it weakly: elements themselves cannot be weak."
    }
    let reason =
      path[link.last].reference?.caseName != nil || path[link.from].reference?.caseName != nil
      ? "an enumeration's case" : "a value"
    return
      "Clear \(field) when the \(owner) is done, or let it refer to the \(owner) through an object with a weak reference: \(reason) itself cannot be weak."
  }
}
