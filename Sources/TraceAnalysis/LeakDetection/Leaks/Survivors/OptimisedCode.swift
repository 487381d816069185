// Determines whether the compiler optimised the program's code.

import TraceReading

/// Whether a program's code is optimised, by its allocations. Only optimised code has the program's own functions
/// inlined into others, unless the program demands that. Seen with Swift 6.3.1. For one thread at a time.
final class OptimisedCode {
  private let sites: AllocationSites
  private let naming: FindingNaming

  init(_ sites: AllocationSites, naming: FindingNaming) { (self.sites, self.naming) = (sites, naming) }

  /// Linear in the sites, at most `siteLimit`. The first access names their frames.
  private(set) lazy var isOptimised = sites.prefix(Self.siteLimit).contains { site in
    naming.frames(of: site.number).contains { $0.isInlined && $0.kind == .user }
  }

  /// Maximum number of sites that are searched.
  private static let siteLimit = 2_000
}
