// A size of resident memory on the command line: `2GiB`, or `80%` of the container's limit.

import ArgumentParser
import TraceAnalysis

struct ResidentLimit: ExpressibleByArgument {
  private enum Size {
    case bytes(UInt64)
    /// A share of the control group's limit, from 0 to 1.
    case share(Double)
  }

  private let size: Size

  init?(argument: String) {
    guard let quantity = Quantity(parsing: argument) else { return nil }
    if let bytes = quantity.bytes {
      size = .bytes(bytes)
    } else if quantity.unit == "%", quantity.value < 100 {
      size = .share(quantity.value / 100)
    } else {
      return nil
    }
  }

  /// Returns the limit in bytes. For a share, reads the limit of this process's control group, because the program will
  /// be in the same group.
  func bytes() throws(RecordingError) -> UInt64 {
    switch size {
    case .bytes(let bytes): return bytes
    case .share(let share):
      guard let limit = ControlGroup.memoryLimit() else { throw .noMemoryLimit }
      return UInt64(Double(limit) * share)
    }
  }
}
