// Places in source code, as they appear in sentences.

import TraceSymbolication

/// Phrases the places of closures and functions.
enum PlaceWords {
  /// Returns words such as ` in the closure at Download.swift:41`. Without a line, because of the optimiser, returns
  /// the closure's name. Empty if nothing is known.
  static func inClosure(_ closure: SourceFrame?) -> String {
    guard let closure else { return "" }
    guard closure.line != nil, let position = closure.position else {
      return closure.isNamed ? " in \(closure.closureTitle)" : ""
    }
    // A thunk's line is only near the closure.
    return closure.kind == .thunk ? " in \(closure.closureTitle) (\(position))" : " in the closure at \(position)"
  }

  /// Returns words such as ` (Download.swift:41)`; empty without a position.
  static func suffix(_ frame: SourceFrame?) -> String { frame?.position.map { " (\($0))" } ?? "" }

  /// Returns words such as ` at Download.swift:41`; empty without a position.
  static func at(_ frame: SourceFrame?) -> String { frame?.position.map { " at \($0)" } ?? "" }

  /// Returns words such as ` at Download.swift:41`, or ` in Downloader.start()` if the file is unknown.
  static func atOrIn(_ frame: SourceFrame?) -> String {
    frame.map { frame in frame.position.map { " at \($0)" } ?? " in \(frame.function)" } ?? ""
  }

  /// Returns `Download.swift:41 in Downloader.start()`, or the known part of it.
  static func name(_ frame: SourceFrame) -> String {
    guard frame.line != nil, let position = frame.position else { return frame.closureName }
    return frame.isNamed ? "\(position) in \(frame.closureName)" : position
  }

  /// Returns ` at Download.swift:41 in Downloader.start()`, or the known part of it.
  static func within(_ frame: SourceFrame?) -> String {
    guard let frame else { return "" }
    let name = frame.isNamed ? " in \(frame.closureName)" : ""
    return frame.line == nil ? name : (frame.position.map { " at \($0)" } ?? "") + name
  }
}
