// Joins the allocation sites that belong to one function of the program.

import TraceReading
import TraceSymbolication

/// Joins sites by type and by the program's function. The caller leaves out sites whose figure for the report's order
/// is zero. Most sites of a long run have no live blocks, and naming all their frames would take long.
struct SiteGroups {
  struct Group {
    var total: SiteTotal
    var siteCount: Int
    /// The largest site; the first one if several are equal.
    var candidate: Int
    var value: UInt64
    var isOfCLibrary: Bool
  }

  private struct Key: Hashable {
    var type: Int
    var operation: Operation
    var owner: SiteOwner
    /// Stack numbers differ between traces, so a stack needs its trace.
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
    _ total: SiteTotal, value: UInt64, candidate: Int, type: Int, _ site: SiteKey, ofTrace trace: Int
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
