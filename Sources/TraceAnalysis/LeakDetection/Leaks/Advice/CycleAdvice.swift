// Advice for breaking a cycle.

import PlatformRules
import TraceSymbolication

/// Names the reference to cut, and an alternative if that reference must stay.
struct CycleAdvice {
  private let finding: Finding
  private let cut: CycleCut
  private var path: [Finding.Step] { finding.path }
  private var names: SourceNames { cut.names }

  /// Advice for ending a cycle, by type of the cycle's objects.
  private let types: RuleTable
  /// By field: advice for a field that keeps a closure after the closure has run.
  private let fields: RuleTable

  init(_ finding: Finding, _ evidence: AdviceEvidence, rules: RuleBook = .shipped) {
    self.finding = finding
    cut = CycleCut(finding, evidence)
    types = rules.table(.cycle, by: .type)
    fields = rules.table(.cycle, by: .field)
  }

  /// The changes, most likely first.
  var advice: [Advice] {
    var sentences: [String] = []
    var isOfLibrarysField = false
    for step in path {
      if let sentence = types.statement(for: step.qualifiedType), !sentences.contains(sentence) {
        sentences.append(sentence)
      }
      if step.kind == .object, let reference = step.reference, let sentence = fields.statement(for: reference.name) {
        sentences.append(sentence)
        isOfLibrarysField = true
      }
    }
    var change = self.change ?? (sentences.isEmpty ? clearing : nil)
    // The sentence names the property that the program sets. The field on the path belongs to the library, so the
    // program cannot clear the field.
    if isOfLibrarysField, case .capture(let capture, or: .clear) = change { change = .capture(capture, or: nil) }
    return sentences.map { .sentence($0) } + (change.map { [.cycle($0)] } ?? [])
  }

  /// The reference to cut; nil if no reference of the program is known.
  private var change: Advice.CycleChange? {
    if let ring = cut.ring {
      return .clearRing(type: SourceNames.plain(ring.type), field: ring.reference?.name ?? "")
    }
    if let link = cut.link, let capture = cut.capture, cut.prefers(link, to: capture) { return breaking(link) }
    if let capture = cut.capture { return breaking(capture) }
    if let block = cut.block {
      let type = SourceNames.plain(path[block.target].type)
      let capture = Advice.WeakCapture(
        variable: block.frame.isMethod(of: type) ? "self" : nil, type: type, site: .passed(by: block.frame))
      return .capture(capture, or: nil)
    }
    return cut.link.flatMap(breaking)
  }

  /// The advice to clear the last field on the path; nil if the path has no field.
  private var clearing: Advice.CycleChange? {
    let fields = path.indices.compactMap { path[$0].kind == .object ? names.field(of: $0) : nil }
    return fields.last.map { .clear($0, of: path.first.map { SourceNames.plain($0.type) } ?? "object") }
  }

  // MARK: Captures

  private func breaking(_ capture: CycleCut.Capture) -> Advice.CycleChange {
    let weak = cut.weakCapture(capture)
    switch capture.how {
    case .itself: return .clearVariable(capture.variable, closure: capture.closure)
    case .inValue: return .captureAlone(weak, or: release(capture))
    case .directly: break
    }
    if let closure = capture.closure, closure.isLocalFunction {
      return .replaceLocalFunction(closure, weak, or: release(capture))
    }
    if let closure = capture.closure, closure.closureName.hasPrefix(SourceFrame.methodReference) {
      return .replaceMethod(
        type: weak.type, setter: closure, field: capture.holder.flatMap { names.field(of: $0) })
    }
    return captureInAll(capture, weak) ?? .capture(weak, or: release(capture))
  }

  /// Returns advice for all closures that keep the object in the same way; nil if there is only one.
  private func captureInAll(_ capture: CycleCut.Capture, _ weak: Advice.WeakCapture) -> Advice.CycleChange? {
    let closures = cut.evidence.closures(keptByAndKeeping: path[capture.target].address).filter {
      CycleCut.isProgram($0) && $0.line != nil && $0.file != nil && !$0.isLocalFunction
    }
    guard let shown = capture.closure, closures.count > 1,
      closures.contains(where: { $0.file == shown.file && $0.line == shown.line })
    else { return nil }
    var places: [String] = []
    for (index, closure) in closures.prefix(Self.listedClosures).enumerated() {
      let isSameFile = index > 0 && closures[index - 1].file == closure.file
      guard let place = isSameFile ? closure.line.map(String.init) : closure.position, !places.contains(place) else {
        continue
      }
      places.append(place)
    }
    guard places.count > 1 else { return nil }
    return .captureInAll(weak, places: places, more: max(0, closures.count - Self.listedClosures))
  }

  /// Maximum number of places in a sentence.
  private static let listedClosures = 6

  /// The other way to end the cycle; nil if the path does not name the field.
  private func release(_ capture: CycleCut.Capture) -> Advice.Release? {
    guard let holder = capture.holder else { return nil }
    if SourceNames.plain(path[holder].type).hasSuffix("Stream._Storage") {
      return names.previous(holder).flatMap { names.field(of: $0) }.map { .finish($0) }
    }
    guard let field = names.field(of: holder) else { return nil }
    return path[holder].kind == .object ? .clear(field) : .remove(from: field)
  }

  // MARK: Fields

  /// Returns nil if no field of the program is known. Advice about a nameless reference leads to no line.
  private func breaking(_ link: CycleCut.Link) -> Advice.CycleChange? {
    let owner = SourceNames.plain(path[link.to].type)
    if cut.canBeWeak(link) {
      let name: String
      var container: Advice.Container?
      if link.last == link.from {
        name = "\(SourceNames.plain(path[link.from].type)).\(path[link.from].reference?.name ?? "")"
      } else if let element = names.elementField(of: link.last) {
        name = element
        container = names.field(of: link.last).map { .collection($0) }
      } else {
        name = path[link.last].reference?.name ?? ""
        container = names.field(of: link.last).map { .value($0) }
      }
      // The alternative is to clear the owner's own reference into the cycle, if that is another field.
      return .makeWeak(
        name, container, owner: owner, orClear: names.field(of: link.to).flatMap { $0 == name ? nil : $0 })
    }
    let last = path[link.last]
    guard let slot = names.field(of: link.last).map({ Advice.Slot.field($0) }) else { return nil }
    if last.kind.isCollection, last.reference?.caseName == nil { return .removeElement(owner: owner, from: slot) }
    let isCase = last.reference?.caseName != nil || path[link.from].reference?.caseName != nil
    return .clearValue(slot, owner: owner, isCase: isCase)
  }
}
