// Checks the mirror library's assumptions about enumerations against the runtime's own sizes.

/// The parts of a layout that the mirror library may describe wrongly.
///
/// For an enumeration of a generic type, the compiler fixes the layout if its payloads have the same size for all
/// bindings. References to instances of generic classes are an example. Spare bits of the payloads then identify the
/// case. The library wrongly adds a byte for the case. The runtime adds such a byte only for payloads whose size
/// depends on the parameters. Seen with Swift 6.1.2 and 6.3.1. Source: swiftlang/swift,
/// stdlib/public/RemoteInspection/TypeLowering.cpp.
enum LayoutGuess: Hashable, Sendable {
  case none
  /// The bits of the case, and the size of the value, may be wrong. The offsets in payloads are right.
  case cases
  /// The offsets of parts after such an enumeration, or the contents of its payloads, may be wrong as well.
  case offsets
}

extension ValueLayout {
  /// Returns the reliable parts of the layout; nil if there are none.
  ///
  /// If the guess is `cases`, the value's own size decides, since an added byte for the case makes the value longer. A
  /// structure's size decides nothing, since padding may absorb the byte.
  func confirmed(by size: ValueSize) -> ValueLayout? {
    switch (guess, size) {
    case (.none, _): return self
    // The runtime laid out the enumeration, as the library assumes.
    case (.cases, .madeByRuntime): return self
    case (.cases, .known(self.size, self.stride)): return self
    case (.cases, .known(let size, let stride)): return withOpenCases(size: size, stride: stride)
    case (.offsets, .known(let size, let stride)): return ofAnything(size: size, stride: stride)
    case (.offsets, .madeByRuntime), (_, .unknown): return nil
    }
  }

  /// Returns the layout without bits of the case: every case with a payload may be active.
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

  /// Returns a layout where any word may be a reference.
  func ofAnything(size: Int, stride: Int) -> ValueLayout {
    ValueLayout(
      typeName: typeName, size: size, stride: stride, alignment: alignment, references: [],
      opaque: size > 0 ? [OpaqueField(range: 0..<size, name: "", typeName: typeName)] : [])
  }
}

/// The size of a type's values, from the runtime's metadata.
enum ValueSize: Hashable {
  case known(Int, stride: Int)
  /// The runtime computed the size, since the compiler did not know it. The heap image lacks such numbers.
  case madeByRuntime
  case unknown
}
