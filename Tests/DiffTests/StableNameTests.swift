import Testing

@testable import TraceSymbolication

@Suite struct StableNameTests {
  @Test(arguments: [
    ("closure #12 in Graph.build()", "closure  in Graph.build()"),
    ("helper #1 (_:) in main", "helper  (_:) in main"),
    ("specialized Graph.build()", "Graph.build()"),
    ("(Cache in _0123456789ABCDEF0123456789ABCDEF).store(_:)", "Cache.store(_:)"),
    ("parse_header.constprop.0", "parse_header"), ("parse_header.part.0.cold", "parse_header"),
    ("Graph.build", "Graph.build"),
    ("Matrix.subscript.getter", "Matrix.subscript.getter"), ("operator #1 +", "operator  +"), ("", ""), ("#", ""),
    (".5", ".5"),
  ])
  func stableNameOmitsPartsThatShiftWithOtherCode(name: String, stable: String) {
    #expect(StableName.of(name) == stable)
  }

  @Test func unnamedFunctionIsIdentifiedByItsImage() {
    var frame = DigestBuilder.frame("libfoo.so+0x1234")
    frame.mangledName = nil
    frame.imagePath = "/usr/lib/libfoo.so"
    #expect(StableName.of(frame) == "in libfoo.so")
  }
}
