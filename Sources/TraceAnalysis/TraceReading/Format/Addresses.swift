// The kinds of address and number that must not be mixed up.

/// An address in the traced process.
package struct RuntimeAddress: Codable, Hashable, Comparable, Sendable {
  package var rawValue: UInt64
  package init(_ rawValue: UInt64) { self.rawValue = rawValue }
  package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

  /// No process has memory from here on, so that the ends of blocks and regions, and addresses a little behind them,
  /// are numbers of 64 bits.
  package static let limit = UInt64.max - 4095
}

/// An address as the linker laid an image out: the runtime address less the image's load bias.
package struct LinkAddress: Hashable, Comparable, Sendable {
  package var rawValue: UInt64
  package init(_ rawValue: UInt64) { self.rawValue = rawValue }
  package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// A position in a file, in bytes.
package struct FileOffset: Hashable, Comparable, Sendable {
  package var rawValue: UInt64
  package init(_ rawValue: UInt64) { self.rawValue = rawValue }
  package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// A number of bytes.
package struct ByteCount: Codable, Hashable, Comparable, Sendable {
  package var rawValue: UInt64
  package init(_ rawValue: UInt64) { self.rawValue = rawValue }
  package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// A call stack: a node of the trace's `StackTree`, its path to the root the callers. Equal stacks of a trace have
/// equal numbers.
package struct StackID: Codable, Hashable, Comparable, Sendable, BitwiseCopyable {
  package var rawValue: UInt32
  package init(_ rawValue: UInt32) { self.rawValue = rawValue }
  package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

  package static let empty = StackID(0)
  /// Not looked up, or not kept.
  package static let unknown = StackID(1)
}

/// An image file that was mapped into the traced process for a while.
package struct LoadedImage: Hashable, Sendable {
  /// The path as the process knew it; may not exist on this machine.
  package var path: String
  /// Empty if the file carries none.
  package var buildID: [UInt8]
  /// Runtime address less link-time address.
  package var loadBias: UInt64
  /// Mapped addresses.
  package var range: Range<RuntimeAddress>

  package init(path: String, buildID: [UInt8], loadBias: UInt64, range: Range<RuntimeAddress>) {
    self.path = path
    self.buildID = buildID
    self.loadBias = loadBias
    self.range = range
  }
}

/// One frame of a recorded stack: an address, and how to look it up.
package struct FrameKey: Hashable, Sendable {
  package var address: RuntimeAddress
  /// The address itself is meant, not the call before it.
  package var isExact: Bool
  /// A logical caller of an async function: the address where it will resume.
  package var isAsync: Bool

  package init(address: RuntimeAddress, isExact: Bool, isAsync: Bool) {
    self.address = address
    self.isExact = isExact
    self.isAsync = isAsync
  }
}
