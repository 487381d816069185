// The recorder's runtime checks, which the shipped library leaves out.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder)) struct RuntimeCheckTests {
  @Test("The shipped library contains no runtime check") func shippedLibrary() throws {
    let library = try Data(contentsOf: URL(fileURLWithPath: BuildProducts.preloadLibrary))
    #expect(library.range(of: Data("leaktrace: ".utf8)) != nil, "texts of the library are searched")
    #expect(library.range(of: Data("check failed".utf8)) == nil)
  }
}
