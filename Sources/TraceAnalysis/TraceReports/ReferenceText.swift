// References in words.

import HeapAnalysis
import LeakDetection
import TextWriting
import TraceReading
import TraceSymbolication

/// The words for one reference of a path.
enum ReferenceText {
  /// Returns words such as `.onPage  closure #1 in TimelineViewModel.screenDidOpen() captures self`. `target`: the
  /// object that the reference leads to; nil for memory that was freed.
  static func words(_ reference: Finding.Reference, to target: Finding.Step?) -> String {
    var name = reference.name
    if let payload = reference.caseName, !payload.isEmpty {
      name += name.isEmpty ? "case \(payload)" : " case \(payload)"
    }
    name = PlainText.escaped(name)
    var how = reference.strength == .conservative ? "scanned word" : reference.strength.key
    if reference.isClosure {
      how = "closure"
      // A closure's context has the closure's name. If the context is another object, the reference must name the
      // closure.
      if target?.kind != .closure, let closure = reference.closure {
        how = "\(PlainText.escaped(closure.closureTitle))\(reference.capturesSelf ? " captures self" : "")"
      }
    }
    if reference.isCapture {
      // The name comes from debug information for this word of the context, so `scanned word` would add nothing.
      if !name.isEmpty, reference.strength == .conservative { return "captures \(name)" }
      return "captures\(name.isEmpty ? "" : " \(name)"), \(how)"
    }
    let field = name.isEmpty ? "" : name.hasPrefix("[") || name.hasPrefix("case") ? name : ".\(name)"
    return field.isEmpty ? how : "\(field)  \(how)"
  }
}
