// A size of resident memory on the command line: `2GiB`, or `80%` of the container's limit.

import ArgumentParser
import TraceAnalysis

struct ResidentLimit: ExpressibleByArgument {
  private enum Size {
    case bytes(UInt64)
    /// A part of the control group's limit.
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

  /// Reads the limit of this process's control group; the program will be in the same group.
  func bytes() throws(RecordingError) -> UInt64 {
    switch size {
    case .bytes(let bytes): return bytes
    case .share(let share):
      guard let limit = ControlGroup.memoryLimit() else { throw .noMemoryLimit }
      return UInt64(Double(limit) * share)
    }
  }
}
