// Places in source code, as sentences name them.

import TraceReading
import TraceSymbolication

enum PlaceWords {
  /// `Download.swift:41`; the file alone where no line is known.
  static func position(_ frame: SourceFrame?) -> String? {
    guard let frame, let file = frame.file else { return nil }
    return frame.line.map { "\(fileName(ofPath: file)):\($0)" } ?? fileName(ofPath: file)
  }

  /// ` in the closure at Download.swift:41`; where the optimiser left no line, by its name. Empty if nothing is known.
  static func inClosure(_ closure: SourceFrame?) -> String {
    guard let closure else { return "" }
    guard closure.line != nil, let position = position(closure) else {
      return closure.isNamed ? " in \(closure.closureTitle)" : ""
    }
    // The line of a function that the compiler made to call it is only near.
    return closure.kind == .thunk ? " in \(closure.closureTitle) (\(position))" : " in the closure at \(position)"
  }

  /// A function declared in another, which has no list of captures: `counted #1 (_:) in Workflow.init()`.
  static func isLocalFunction(_ frame: SourceFrame) -> Bool {
    guard let mark = frame.closureName.range(of: " #"), !frame.closureName.hasPrefix("closure #"),
      !frame.closureName.hasPrefix("implicit closure #")
    else { return false }
    return frame.closureName[mark.upperBound...].first?.isNumber ?? false
  }

  /// ` (Download.swift:41)`, or nothing.
  static func suffix(_ frame: SourceFrame?) -> String { position(frame).map { " (\($0))" } ?? "" }

  /// `Downloader.start()`, without the optimiser's part.
  static func function(_ frame: SourceFrame) -> String { frame.closureName }

  /// ` at Download.swift:41 in Downloader.start()`, as much as is known.
  static func within(_ frame: SourceFrame?) -> String {
    guard let frame else { return "" }
    let name = frame.isNamed ? " in \(frame.closureName)" : ""
    return frame.line == nil ? name : (position(frame).map { " at \($0)" } ?? "") + name
  }

  /// A function of a class, or a closure in one.
  static func isMethod(_ frame: SourceFrame, of type: String) -> Bool {
    guard let owner = RetainPlaces.owner(of: frame.function) else { return false }
    return owner == type || owner.hasSuffix(".\(type)")
  }
}
