// Advice for breaking a cycle, in sentences.

import LeakDetection
import TraceSymbolication

/// Phrases the reference of a cycle to cut, and an alternative if that reference must stay.
enum CycleWords {
  static func sentence(_ change: Advice.CycleChange) -> String {
    switch change {
    case .clearRing(let type, let field):
      return
        "The \(type) objects hold one another in a ring: set \(type).\(field) of one of them to nil when their owner is done, for example in its deinit."
    case .capture(let capture, let release):
      return
        "Capture \(AdviceWords.variable(capture)) weakly\(list(capture))\(AdviceWords.words(capture.site))\(or(release))"
    case .captureInAll(let capture, let places, let more):
      return "Capture \(AdviceWords.variable(capture)) weakly in the closures at \(joined(places, more: more))."
    case .clearVariable(let variable, let closure):
      let place = closure?.position.map { "at \($0) " } ?? ""
      return
        "The closure \(place)captures \(variable), the variable that holds it: set \(variable) to nil when the closure has done its work, or make it a local function."
    case .captureAlone(let capture, let release):
      let other =
        switch release {
        case .finish(let field)?: " Or call finish() on \(field)."
        case .clear?, .remove?: " Or \(release.map(words) ?? "")."
        case nil: ""
        }
      return
        "Capture the \(capture.type) weakly and by itself\(AdviceWords.words(capture.site)): it is captured there as a part of another value.\(other)"
    case .replaceLocalFunction(let function, let capture, let release):
      let variable = AdviceWords.variable(capture)
      return
        "\(function.closureName)\(PlaceWords.suffix(function)) is a local function that captures \(variable): store a closure in its place that captures \(variable) weakly\(or(release))"
    case .replaceMethod(let type, let setter, let field):
      let place = setter.closureName.dropFirst(SourceFrame.methodReference.count)
      let line = setter.line == nil ? "" : PlaceWords.suffix(setter)
      return
        "\(field ?? "A field") holds a method of the \(type), and with it the \(type): in \(place)\(line), set that to a closure that captures the \(type) weakly."
    case .makeWeak(let name, let container, let owner, let other):
      let place =
        switch container {
        case .collection(let field)?: " (in \(field))"
        case .value(let field)?: ", a field of the value in \(field),"
        case nil: ""
        }
      return "Make \(name)\(place) weak, or clear \(other ?? "it") when the \(owner) is done."
    case .removeElement(let owner, let slot):
      return
        "Remove the \(owner) from \(AdviceWords.words(slot)) when it is done, or store a small object there that refers to it weakly: elements themselves cannot be weak."
    case .clearValue(let slot, let owner, let isCase):
      return
        "Clear \(AdviceWords.words(slot)) when the \(owner) is done, or let it refer to the \(owner) through an object with a weak reference: \(isCase ? "an enumeration's case" : "a value") itself cannot be weak."
    case .clear(let field, let subject):
      return "Clear \(field) when the \(subject) is done."
    }
  }

  /// Returns a capture list for a variable with a dotted name; empty for other variables.
  private static func list(_ capture: Advice.WeakCapture) -> String {
    guard let variable = capture.variable, let dot = variable.lastIndex(of: ".") else { return "" }
    return " ([weak \(variable[variable.index(after: dot)...]) = \(variable)])"
  }

  /// Returns a list such as `A.swift:7 and 9`.
  private static func joined(_ places: [String], more: Int) -> String {
    more > 0
      ? "\(places.joined(separator: ", ")), and \(more) more"
      : "\(places.dropLast().joined(separator: ", ")) and \(places.last ?? "")"
  }

  /// Returns the end of a sentence, with the alternative if there is one.
  private static func or(_ release: Advice.Release?) -> String { release.map { ", or \(words($0))." } ?? "." }

  private static func words(_ release: Advice.Release) -> String {
    switch release {
    case .clear(let field): "clear \(field) when it is no longer needed"
    case .remove(let field): "remove it from \(field) when it is no longer needed"
    case .finish(let field): "call finish() on \(field) when it is done"
    }
  }
}
