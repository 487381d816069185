// The type names of allocation sites.

import TraceReading
import TraceSymbolication

/// The distinct type names of sites, and whether each matches the selection.
struct SiteTypeNames {
  private let patterns: [NamePattern]
  private var names: [String] = []
  private var areMatching: [Bool] = []
  private var numbers: [String: Int] = [:]
  /// Numbers of names in the current trace, by the values that determine a site's type name.
  private var known: [UInt64: Int] = [:]
  private var analysis: AllocationAnalysis?

  init(_ selection: ReportSelection) { patterns = selection.types }

  mutating func begin(_ analysis: AllocationAnalysis) {
    self.analysis = analysis
    known.removeAll()
  }

  mutating func number(of site: AllocationSite) -> Int {
    let key = UInt64(site.operation.rawValue) << 32 | UInt64(site.type)
    if let number = known[key] { return number }
    let name = analysis?.typeName(of: site) ?? ""
    let number = numbers[name] ?? names.count
    if number == names.count {
      numbers[name] = number
      names.append(name)
      areMatching.append(patterns.isEmpty || patterns.contains { $0.matches(name) })
    }
    known[key] = number
    return number
  }

  func isMatching(_ number: Int) -> Bool { areMatching[number] }
  var count: Int { names.count }
  subscript(_ number: Int) -> String { names[number] }
}
