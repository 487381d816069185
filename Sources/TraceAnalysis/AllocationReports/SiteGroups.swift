// Allocation sites that one function of the program's makes, joined.

import TraceReading
import TraceSymbolication

/// Sites joined by type and function of the program's: those that have something of what the report is sorted by. Most
/// of a long run's sites have nothing live, and their frames would all have to be named.
struct SiteGroups {
  struct Group {
    var total: SiteTotal
    var siteCount: Int
    /// The one with most, and of equal ones the first.
    var candidate: Int
    var value: UInt64
    var isOfCLibrary: Bool
  }

  private struct Key: Hashable {
    var type: Int
    var operation: Operation
    var owner: SiteOwner
    /// Stacks of several traces have numbers of their own.
    var trace: Int
  }

  private var functions: [SiteFunctions]
  private var numbers: [Key: Int] = [:]
  private(set) var all: [Group] = []
  private(set) var stackCount = 0

  init(_ traces: [ReportTrace], naming: any FrameNaming) {
    functions = traces.map { SiteFunctions($0.analysis.definitions, naming: naming) }
  }

  mutating func add(
    _ total: SiteTotal, value: UInt64, candidate: Int, type: Int, _ site: AllocationSite, ofTrace trace: Int
  ) {
    stackCount += 1
    let owner = functions[trace].owner(ofStack: site.stack)
    var isOfCLibrary = false
    var key = Key(type: type, operation: site.operation, owner: owner, trace: trace)
    switch owner {
    case .function: key.trace = -1
    case .library: break
    case .cLibrary: isOfCLibrary = true
    }
    guard let known = numbers[key] else {
      numbers[key] = all.count
      all.append(Group(total: total, siteCount: 1, candidate: candidate, value: value, isOfCLibrary: isOfCLibrary))
      return
    }
    all[known].total += total
    all[known].siteCount += 1
    if value > all[known].value { (all[known].value, all[known].candidate) = (value, candidate) }
  }
}
