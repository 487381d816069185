// The estimates of a light recording, in a digest.

import AllocationReports
import TraceReading

extension RunDigest {
  private struct EstimateKey: Hashable {
    var innermost: Int32
    var stack: Int32
  }

  /// Returns the samples' estimates at the last heap image, by stack. Merges estimates with equal names. Samples with
  /// an unknown stack keep an empty one, since chance decides which samples these are.
  static func estimates(_ analysis: AllocationAnalysis, _ namer: inout StackNamer) -> [Estimate] {
    let period = analysis.header.samplePeriod
    let sampled = analysis.definitions.sampledSites
    let last = sampled.lazy.map(\.time).max() ?? 0
    var numbers: [EstimateKey: Int] = [:]
    var result: [Estimate] = []
    for site in sampled where site.time == last {
      let (stack, innermost) = namer.stack(ofSampled: site.frames)
      let key = EstimateKey(innermost: namer.stableNumber(of: innermost), stack: stack)
      let next = Estimate(
        innermost: innermost, stack: stack, allocated: ByteEstimate(site.allocated, period: period),
        live: ByteEstimate(site.live, period: period))
      if let known = numbers[key] {
        result[known].add(next)
      } else {
        numbers[key] = result.count
        result.append(next)
      }
    }
    return result
  }

  /// Adds the estimates of another process of the run. A process without estimates adds nothing.
  mutating func add(estimatesOf other: RunDigest, frameBase: Int32, stackBase: Int32) {
    samplePeriod = [samplePeriod, other.samplePeriod].compactMap(\.self).max()
    sampledSeconds = [sampledSeconds, other.sampledSeconds].compactMap(\.self).max()
    guard let others = other.estimates else { return }
    estimates =
      (estimates ?? [])
      + others.map { estimate in
        var estimate = estimate
        estimate.innermost = estimate.innermost < 0 ? -1 : estimate.innermost + frameBase
        estimate.stack = estimate.stack < 0 ? -1 : estimate.stack + stackBase
        return estimate
      }
  }
}

extension RunDigest.Estimate {
  /// Adds the estimates that other samples give for the same stack.
  mutating func add(_ other: Self) {
    allocated = allocated + other.allocated
    live = live + other.live
  }

  /// Returns a figure of estimates; 0 for all other figures.
  subscript(figure: Figure) -> ByteEstimate {
    switch figure {
    case .liveBytes: live
    case .allocatedBytes: allocated
    default: ByteEstimate(bytes: 0, error: 0)
    }
  }
}
