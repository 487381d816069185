// The sites that a report may show, and their sums.

import TraceReading

/// The sites that pass the filters. Distinct sites without a row in the report are left out. The data of a site stays in
/// the tables of its trace; only sums of joined sites are stored here.
final class Candidates {
  private struct Candidate {
    var trace: UInt32
    var site: SiteID
    /// The type's number in `SiteTypeNames`.
    var type: UInt32
  }

  /// The sites of each trace.
  private let sites: [AllocationSites]
  private var all: [Candidate] = []
  private var sums: [Int: SiteTotal] = [:]

  init(_ traces: [ReportTrace]) { sites = traces.map(\.analysis.sites) }

  var count: Int { all.count }

  func append(_ site: SiteID, ofTrace trace: Int, type: Int) {
    all.append(Candidate(trace: UInt32(trace), site: site, type: UInt32(type)))
  }

  func merge(_ total: SiteTotal, into index: Int) {
    let own = self.total(index)
    sums[index] = own
    sums[index]! += total
  }

  func trace(_ index: Int) -> Int { Int(all[index].trace) }
  func type(_ index: Int) -> Int { Int(all[index].type) }
  /// Returns the key of the first of the sites that were joined into a candidate.
  func site(_ index: Int) -> SiteKey { sites[trace(index)].key(at: Int(all[index].site.rawValue)) }
  func total(_ index: Int) -> SiteTotal {
    (sums.isEmpty ? nil : sums[index]) ?? sites[trace(index)].total(at: Int(all[index].site.rawValue))
  }
}

/// Sums over the sites that pass the filters: of all, by type, and by operation.
struct CandidateSums {
  private(set) var count = 0
  private(set) var whole = SiteTotal()
  private var byType: [SiteTotal?] = []
  private var byOperation: [SiteTotal?] = Array(repeating: nil, count: Int(UInt8.max) + 1)

  /// Adds the sums of a site. `type`: a number of `SiteTypeNames`.
  mutating func add(_ total: SiteTotal, type: Int, operation: Operation) {
    count += 1
    whole += total
    while byType.count <= type { byType.append(nil) }
    byType[type, default: SiteTotal()] += total
    byOperation[Int(operation.rawValue), default: SiteTotal()] += total
  }

  func types(_ order: ReportSelection.Order, _ names: SiteTypeNames) -> [AllocationAnalysis.NamedTotal] {
    Self.named(byType, order) { names[$0] }
  }
  func operations(_ order: ReportSelection.Order) -> [AllocationAnalysis.NamedTotal] {
    Self.named(byOperation, order) { Operation(rawValue: UInt8($0)).name }
  }

  /// Joins sums with the same name, and sorts them.
  private static func named(_ sums: [SiteTotal?], _ order: ReportSelection.Order, name: (Int) -> String)
    -> [AllocationAnalysis.NamedTotal]
  {
    var named: [String: SiteTotal] = [:]
    for (number, sum) in sums.enumerated() { if let sum { named[name(number), default: SiteTotal()] += sum } }
    return named.map { AllocationAnalysis.NamedTotal(name: $0.key, total: $0.value) }.sorted {
      (order.value(of: $1.total), $1.total.allocatedBytes, $0.name) < (
        order.value(of: $0.total), $0.total.allocatedBytes, $1.name
      )
    }
  }
}

extension Array {
  /// Accesses the element at an index of an array of optionals; reads a default in place of nil.
  fileprivate subscript<Value>(_ index: Int, default value: Value) -> Value where Element == Value? {
    get { self[index] ?? value }
    set { self[index] = newValue }
  }
}
