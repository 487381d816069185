// The roles of functions that advice names.

import TraceSymbolication

extension SourceFrame {
  /// It is a function declared in another, which has no list of captures: `counted #1 (_:) in Workflow.init()`.
  var isLocalFunction: Bool {
    guard let mark = closureName.firstRange(of: " #"), !closureName.hasPrefix("closure #"),
      !closureName.hasPrefix("implicit closure #")
    else { return false }
    return closureName[mark.upperBound...].first?.isNumber ?? false
  }

  /// It is a function of a class, or a closure in one.
  func isMethod(of type: String) -> Bool {
    guard let owner = RetainPlaces.owner(of: function) else { return false }
    return owner == type || owner.hasSuffix(".\(type)")
  }
}
