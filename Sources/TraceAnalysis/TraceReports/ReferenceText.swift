// References in words.

import HeapAnalysis
import LeakDetection
import TraceReading
import TraceSymbolication

/// The words for a reference of a path.
enum ReferenceText {
  /// `.onPage  closure #1 in TimelineViewModel.screenDidOpen() captures self`. `target`: the object that it leads to; nil
  /// for memory that is gone.
  static func words(_ reference: Finding.Reference, to target: Finding.Step?) -> String {
    var name = reference.name
    if let payload = reference.caseName, !payload.isEmpty {
      name += name.isEmpty ? "case \(payload)" : " case \(payload)"
    }
    name = PlainText.escaped(name)
    var how = reference.strength == .conservative ? "scanned word" : reference.strength.key
    if reference.isClosure {
      how = "closure"
      // The context is named for the closure; where an object is the context, the reference has to say which closure it
      // is.
      if target?.kind != .closure, let closure = reference.closure {
        how = "\(PlainText.escaped(closure.closureTitle))\(reference.capturesSelf ? " captures self" : "")"
      }
    }
    if reference.isCapture {
      // Debug information names a variable for a word of the context: that the context was scanned says no more.
      if !name.isEmpty, reference.strength == .conservative { return "captures \(name)" }
      return "captures\(name.isEmpty ? "" : " \(name)"), \(how)"
    }
    let field = name.isEmpty ? "" : name.hasPrefix("[") || name.hasPrefix("case") ? name : ".\(name)"
    return field.isEmpty ? how : "\(field)  \(how)"
  }
}
