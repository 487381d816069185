// The kinds of address and number that must not be mixed up.

/// An address in the traced process.
public struct RuntimeAddress: Codable, Hashable, Comparable, Sendable {
  public var rawValue: UInt64
  public init(_ rawValue: UInt64) { self.rawValue = rawValue }
  public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// An address as the linker laid an image out: the runtime address less the image's load bias.
public struct LinkAddress: Hashable, Comparable, Sendable {
  public var rawValue: UInt64
  public init(_ rawValue: UInt64) { self.rawValue = rawValue }
  public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// A position in a file, in bytes.
public struct FileOffset: Hashable, Comparable, Sendable {
  public var rawValue: UInt64
  public init(_ rawValue: UInt64) { self.rawValue = rawValue }
  public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// A number of bytes.
public struct ByteCount: Codable, Hashable, Comparable, Sendable {
  public var rawValue: UInt64
  public init(_ rawValue: UInt64) { self.rawValue = rawValue }
  public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// A call stack: a node of the trace's `StackTree`, its path to the root the callers. Equal stacks of a trace have equal numbers.
public struct StackID: Codable, Hashable, Comparable, Sendable, BitwiseCopyable {
  public var rawValue: UInt32
  public init(_ rawValue: UInt32) { self.rawValue = rawValue }
  public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

  public static let empty = StackID(0)
  /// Not looked up, or not kept.
  public static let unknown = StackID(1)
}

/// An image file that was mapped into the traced process for a while.
public struct LoadedImage: Hashable, Sendable {
  /// The path as the process knew it; may not exist on this machine.
  public var path: String
  /// Empty if the file carries none.
  public var buildID: [UInt8]
  /// Runtime address less link-time address.
  public var loadBias: UInt64
  /// Mapped addresses.
  public var range: Range<RuntimeAddress>

  public init(path: String, buildID: [UInt8], loadBias: UInt64, range: Range<RuntimeAddress>) {
    self.path = path
    self.buildID = buildID
    self.loadBias = loadBias
    self.range = range
  }
}

/// One frame of a recorded stack: an address, and how to look it up.
public struct FrameKey: Hashable, Sendable {
  public var address: RuntimeAddress
  /// The address itself is meant, not the call before it.
  public var isExact: Bool
  /// A logical caller of an async function: the address where it will resume.
  public var isAsync: Bool

  public init(address: RuntimeAddress, isExact: Bool, isAsync: Bool) {
    self.address = address
    self.isExact = isExact
    self.isAsync = isAsync
  }
}
