// The figures of each call stack in a profile.

import TraceReading

/// A figure of a call stack. The raw value is the figure's name on the command line.
package enum ProfileMeasure: String, CaseIterable, Hashable, Sendable {
  case allocatedBlocks = "allocated-blocks"
  case allocatedBytes = "allocated-bytes"
  case liveBlocks = "live-blocks"
  case liveBytes = "live-bytes"
  case peakBlocks = "peak-blocks"
  case peakBytes = "peak-bytes"
  case temporaryBlocks = "temporary-blocks"
  case temporaryBytes = "temporary-bytes"
  case leakedBlocks = "leaked-blocks"
  case leakedBytes = "leaked-bytes"
  case retains

  package enum Unit: String, Hashable, Sendable { case count, bytes }

  package var unit: Unit {
    switch self {
    case .allocatedBytes, .liveBytes, .peakBytes, .temporaryBytes, .leakedBytes: .bytes
    case .allocatedBlocks, .liveBlocks, .peakBlocks, .temporaryBlocks, .leakedBlocks, .retains: .count
    }
  }

  /// The name in Go's heap profiles, or a name of the same style.
  var sampleType: String {
    switch self {
    case .allocatedBlocks: "alloc_objects"
    case .allocatedBytes: "alloc_space"
    case .liveBlocks: "inuse_objects"
    case .liveBytes: "inuse_space"
    case .peakBlocks: "peak_objects"
    case .peakBytes: "peak_space"
    case .temporaryBlocks: "temporary_objects"
    case .temporaryBytes: "temporary_space"
    case .leakedBlocks: "leaked_objects"
    case .leakedBytes: "leaked_space"
    case .retains: "retains"
    }
  }

  /// True if the measure needs an analyzed heap image.
  package var isOfLeaks: Bool { self == .leakedBlocks || self == .leakedBytes }

  /// The name for people.
  package var title: String {
    switch self {
    case .allocatedBlocks: "allocated, blocks"
    case .allocatedBytes: "allocated, bytes"
    case .liveBlocks: "live at exit, blocks"
    case .liveBytes: "live at exit, bytes"
    case .peakBlocks: "live at the peak, blocks"
    case .peakBytes: "live at the peak, bytes"
    case .temporaryBlocks: "temporary, blocks"
    case .temporaryBytes: "temporary, bytes"
    case .leakedBlocks: "leaked, blocks"
    case .leakedBytes: "leaked, bytes"
    case .retains: "retains"
    }
  }

  package func value(of sample: StackProfile.Sample) -> UInt64 {
    switch self {
    case .leakedBlocks: sample.leaked.blocks
    case .leakedBytes: sample.leaked.bytes
    default: value(of: sample.total)
    }
  }

  /// Returns the measure's value in a total of allocations; 0 if totals do not have the measure.
  package func value(of total: SiteTotal) -> UInt64 {
    switch self {
    case .allocatedBlocks: total.allocatedBlocks
    case .allocatedBytes: total.allocatedBytes
    case .liveBlocks: total.liveBlocks
    case .liveBytes: total.liveBytes
    case .peakBlocks: total.peakBlocks
    case .peakBytes: total.peakBytes
    case .temporaryBlocks: total.temporaryBlocks
    case .temporaryBytes: total.temporaryBytes
    case .leakedBlocks, .leakedBytes: 0
    case .retains: total.retains
    }
  }
}

extension StackProfile {
  /// The measures that were recorded.
  package var measures: [ProfileMeasure] {
    ProfileMeasure.allCases.filter { measure in
      switch measure {
      case .leakedBlocks, .leakedBytes: hasLeaks
      case .retains: hasRetains
      default: true
      }
    }
  }

  /// The sum over all samples.
  package func sum(_ measure: ProfileMeasure) -> UInt64 {
    samples.reduce(0) { $0 &+ measure.value(of: $1) }
  }
}
