// The type names of allocation sites.

import TraceReading
import TraceSymbolication

/// The distinct type names of sites, and whether each matches the selection.
final class SiteTypeNames {
  private let patterns: [NamePattern]
  private var names: [String] = []
  private var areMatching: [Bool] = []
  private var numbers: [String: Int] = [:]
  /// Numbers of names in the current trace, by the values that determine a site's type name.
  private var known: [UInt64: Int] = [:]
  /// The last entry of `known` that was used: successive sites often have the same type.
  private var last: (key: UInt64, number: Int)?
  /// Pairs of an operation and a name of the current trace.
  private var pairs: Set<UInt64> = []
  /// True if sites of the current trace have different types of one name, and the same operation.
  private(set) var joinsTypes = false
  private var analysis: AllocationAnalysis?

  init(_ selection: ReportSelection) { patterns = selection.types }

  func begin(_ analysis: AllocationAnalysis) {
    self.analysis = analysis
    known.removeAll()
    last = nil
    pairs.removeAll()
    joinsTypes = false
  }

  /// Returns the number of the type name of a site of the current trace.
  func number(ofSite index: Int, _ site: SiteKey) -> Int {
    let key = UInt64(site.operation.rawValue) << 32 | UInt64(site.type)
    if let last, last.key == key { return last.number }
    let number = known[key] ?? analysis.map { add(key, $0.sites[index], $0) } ?? 0
    last = (key, number)
    return number
  }

  private func add(_ key: UInt64, _ site: AllocationSite, _ analysis: AllocationAnalysis) -> Int {
    let name = analysis.typeName(of: site)
    let number = numbers[name] ?? names.count
    if number == names.count {
      numbers[name] = number
      names.append(name)
      areMatching.append(patterns.isEmpty || patterns.contains { $0.matches(name) })
    }
    known[key] = number
    if !pairs.insert(UInt64(site.operation.rawValue) << 32 | UInt64(number)).inserted { joinsTypes = true }
    return number
  }

  func isMatching(_ number: Int) -> Bool { areMatching[number] }
  var count: Int { names.count }
  subscript(_ number: Int) -> String { names[number] }
}
