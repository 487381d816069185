// What the mirror library takes for granted of enumerations, and how the runtime's own figures confirm it or not.

/// Parts of a layout that may not be as the library says.
///
/// The compiler lays out an enumeration of a generic type by itself if its payloads have one size whatever they are bound to, as references to instances of generic classes have: spare
/// bits of the payloads tell its cases. The library adds a byte for the case, as the runtime does where sizes depend on the parameters. Seen with Swift 6.1.2 and 6.3.1. Source: swiftlang/swift, stdlib/public/RemoteInspection/TypeLowering.cpp.
enum LayoutGuess: Hashable, Sendable {
  case none
  /// Which case a value has, and its size. Payloads are where the library says.
  case cases
  /// Where parts behind such an enumeration are, too.
  case offsets
}

extension ValueLayout {
  /// The same with what may be relied on, given the size and the stride of the type's values.
  func confirmed(size: Int, stride: Int) -> ValueLayout {
    if self.size == size, self.stride == stride { return self }
    var layout = self
    (layout.size, layout.stride) = (size, stride)
    if guess == .cases {
      layout.leaveCasesOpen()
    } else {
      layout.references = []
      layout.enumerations = []
      layout.narrow = []
      layout.opaque = size > 0 ? [OpaqueField(range: 0..<size, name: "", typeName: typeName)] : []
    }
    return layout
  }

  /// Takes any case of the enumerations for possible that has something in it.
  mutating func leaveCasesOpen() {
    for index in enumerations.indices {
      enumerations[index].discriminator = .unknown
      enumerations[index].referenceWords = []
    }
    references.removeAll { $0.offset + 8 > size }
    opaque.removeAll { $0.range.upperBound > size }
    narrow = []
    guess = .none
  }
}
