// Places in source code, as sentences name them.

import TraceSymbolication

/// Phrases the places of closures and functions.
enum PlaceWords {
  /// ` in the closure at Download.swift:41`; where the optimiser left no line, by its name. Empty if nothing is known.
  static func inClosure(_ closure: SourceFrame?) -> String {
    guard let closure else { return "" }
    guard closure.line != nil, let position = closure.position else {
      return closure.isNamed ? " in \(closure.closureTitle)" : ""
    }
    // The line of a function that the compiler made to call it is only near.
    return closure.kind == .thunk ? " in \(closure.closureTitle) (\(position))" : " in the closure at \(position)"
  }

  /// ` (Download.swift:41)`, or nothing.
  static func suffix(_ frame: SourceFrame?) -> String { frame?.position.map { " (\($0))" } ?? "" }

  /// ` at Download.swift:41`, or nothing.
  static func at(_ frame: SourceFrame?) -> String { frame?.position.map { " at \($0)" } ?? "" }

  /// ` at Download.swift:41`, or ` in Downloader.start()` where no file is known.
  static func atOrIn(_ frame: SourceFrame?) -> String {
    frame.map { frame in frame.position.map { " at \($0)" } ?? " in \(frame.function)" } ?? ""
  }

  /// `Download.swift:41 in Downloader.start()`, as much as is known.
  static func name(_ frame: SourceFrame) -> String {
    guard frame.line != nil, let position = frame.position else { return frame.closureName }
    return frame.isNamed ? "\(position) in \(frame.closureName)" : position
  }

  /// ` at Download.swift:41 in Downloader.start()`, as much as is known.
  static func within(_ frame: SourceFrame?) -> String {
    guard let frame else { return "" }
    let name = frame.isNamed ? " in \(frame.closureName)" : ""
    return frame.line == nil ? name : (frame.position.map { " at \($0)" } ?? "") + name
  }
}
