// The roles of functions that advice names.

import TraceSymbolication

extension SourceFrame {
  /// Whether the frame is a function that is declared in another function: `counted #1 (_:) in Workflow.init()`. Such a
  /// function has no capture list.
  var isLocalFunction: Bool {
    guard let mark = closureName.firstRange(of: " #"), !closureName.hasPrefix("closure #"),
      !closureName.hasPrefix("implicit closure #")
    else { return false }
    return closureName[mark.upperBound...].first?.isNumber ?? false
  }

  /// Returns whether the frame is a function of a type, or a closure in such a function.
  func isMethod(of type: String) -> Bool {
    guard let owner = RetainPlaces.owner(of: function) else { return false }
    return owner == type || owner.hasSuffix(".\(type)")
  }
}
