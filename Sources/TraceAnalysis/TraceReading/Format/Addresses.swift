// Types for addresses and numbers that must not be confused with each other.

/// An address in the traced process.
package struct RuntimeAddress: Codable, Hashable, Comparable, Sendable {
  package var rawValue: UInt64
  package init(_ rawValue: UInt64) { self.rawValue = rawValue }
  package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

  /// No process has memory at or above this address. So the ends of blocks and regions, and addresses a little beyond
  /// them, fit in 64 bits.
  package static let limit = UInt64.max - 4095
}

/// An address in an image's file, as the linker assigned it: the runtime address less the image's load bias.
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

/// A call stack: a node of the trace's `StackTree`. The node's path to the root consists of the callers. Equal stacks
/// of a trace have equal numbers.
package struct StackID: Codable, Hashable, Comparable, Sendable, BitwiseCopyable {
  package var rawValue: UInt32
  package init(_ rawValue: UInt32) { self.rawValue = rawValue }
  package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

  package static let empty = StackID(0)
  /// A stack that was not looked up, or not kept.
  package static let unknown = StackID(1)
}

/// An image file that was mapped into the traced process for a while.
package struct LoadedImage: Hashable, Sendable {
  /// The path in the traced process. It may not exist on this machine.
  package var path: String
  /// Empty if the file has no build ID.
  package var buildID: [UInt8]
  /// The runtime address of the image's code and data less their link address.
  package var loadBias: UInt64
  /// The mapped addresses.
  package var range: Range<RuntimeAddress>

  package init(path: String, buildID: [UInt8], loadBias: UInt64, range: Range<RuntimeAddress>) {
    self.path = path
    self.buildID = buildID
    self.loadBias = loadBias
    self.range = range
  }
}

/// One frame of a recorded stack: an address, and flags for its look-up.
package struct FrameKey: Hashable, Sendable {
  package var address: RuntimeAddress
  /// True if the address itself is looked up. Otherwise it is a return address, and the call before it is looked up.
  package var isExact: Bool
  /// True for the caller of an async function. The address is the point where the caller will resume.
  package var isAsync: Bool

  package init(address: RuntimeAddress, isExact: Bool, isAsync: Bool) {
    self.address = address
    self.isExact = isExact
    self.isAsync = isAsync
  }
}
