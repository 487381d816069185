// The mirror library's assumptions about enumerations, and their check against the runtime's own figures.

/// Parts of a layout that the library may describe wrongly.
///
/// The compiler lays out an enumeration of a generic type by itself if its payloads have one size for all bindings, as
/// references to instances of generic classes have: spare bits of the payloads identify the case. The library adds a
/// byte for the case, as the runtime does if sizes depend on the parameters. Seen with Swift 6.1.2 and 6.3.1. Source:
/// swiftlang/swift, stdlib/public/RemoteInspection/TypeLowering.cpp.
enum LayoutGuess: Hashable, Sendable {
  case none
  /// The case of a value, and its size. Payloads are where the library says.
  case cases
  /// The offsets of parts behind such an enumeration, too, or the contents of its payloads.
  case offsets
}

extension ValueLayout {
  /// Returns the reliable parts of the layout; nil if there are none.
  ///
  /// A byte for the case makes an enumeration longer, so its own size decides. A structure's size does not: padding may
  /// absorb the byte.
  func confirmed(by size: ValueSize) -> ValueLayout? {
    switch (guess, size) {
    case (.none, _): return self
    // The runtime laid it out, as the library does.
    case (.cases, .madeByRuntime): return self
    case (.cases, .known(self.size, self.stride)): return self
    case (.cases, .known(let size, let stride)): return withOpenCases(size: size, stride: stride)
    case (.offsets, .known(let size, let stride)): return ofAnything(size: size, stride: stride)
    case (.offsets, .madeByRuntime), (_, .unknown): return nil
    }
  }

  /// Returns the layout with every case that has a payload as possibly active.
  func withOpenCases(size: Int, stride: Int) -> ValueLayout {
    var layout = self
    (layout.size, layout.stride, layout.guess, layout.narrow) = (size, stride, .none, [])
    for index in enumerations.indices {
      layout.enumerations[index].discriminator = .unknown
      layout.enumerations[index].referenceWords = []
    }
    layout.references.removeAll { $0.offset + 8 > size }
    layout.opaque.removeAll { $0.range.upperBound > size }
    return layout
  }

  /// Any word of it may be a reference.
  func ofAnything(size: Int, stride: Int) -> ValueLayout {
    ValueLayout(
      typeName: typeName, size: size, stride: stride, alignment: alignment, references: [],
      opaque: size > 0 ? [OpaqueField(range: 0..<size, name: "", typeName: typeName)] : [])
  }
}

/// The size of a type's values in the runtime.
enum ValueSize: Hashable {
  case known(Int, stride: Int)
  /// The compiler did not know it. An image has no such numbers.
  case madeByRuntime
  case unknown
}
