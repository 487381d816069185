// Names of functions and types without the parts that change when other code changes.

/// Makes names of functions and types that do not change from build to build.
///
/// Leaves out the parts that change:
///
/// - numbers that the compiler assigns in order (`closure #2`, `local #1`);
/// - the file discriminators of private names;
/// - the optimiser's additions (`specialized`, `merged`, `.constprop.0`);
/// - addresses of functions without a name.
///
/// O(length).
package enum StableName {
  package static func of(_ frame: SourceFrame?) -> String {
    guard let frame else { return "" }
    // `module+0x1234` has another offset in the next build.
    if !frame.isNamed, frame.file == nil { return "in \(frame.imageName ?? "?")" }
    // Remove the module. Short names leave it out if it is named after the program's file, and that file may have
    // another name in the next build.
    guard let module = frame.swiftModule else { return of(frame.function) }
    return of(frame.function.removingOwner(module))
  }

  package static func of(_ name: String) -> String {
    // Most names have no such parts.
    let utf8 = name.utf8
    let isPlain =
      !utf8.contains { $0 == UInt8(ascii: "#") || $0 == UInt8(ascii: "(") || $0 == UInt8(ascii: ".") }
      && !name.hasPrefix("specialized ") && !name.hasPrefix("merged ")
    return isPlain ? name : stripped(name)
  }

  private static func stripped(_ name: String) -> String {
    var rest = name[...]
    while let wrapper = ["partial apply forwarder for ", "partial apply for ", "specialized ", "merged "].first(where: {
      rest.hasPrefix($0)
    }) {
      rest = rest.dropFirst(wrapper.count)
    }
    rest = withoutSuffixes(rest)
    var result = ""
    while let mark = rest.firstIndex(of: "#") {
      result += rest[..<mark]
      rest = rest[rest.index(after: mark)...].drop { $0.isNumber }
    }
    result += rest
    return result.utf8.contains(UInt8(ascii: "(")) ? DeclarationName.withoutDiscriminators(result) : result
  }

  /// Returns a name without the suffixes that C compilers add for a function's parts and copies.
  private static func withoutSuffixes(_ name: Substring) -> Substring {
    var rest = name
    while let dot = rest.lastIndex(of: "."), dot > rest.startIndex {
      let suffix = rest[rest.index(after: dot)...]
      let isPart = ["cold", "constprop", "isra", "part", "llvm", "resume"].contains(String(suffix))
      let isNumber = !suffix.isEmpty && suffix.allSatisfy(\.isNumber)
      guard isPart || isNumber else { break }
      rest = rest[..<dot]
    }
    return rest
  }
}

extension String {
  /// Returns the text without a module's name where that name and a dot precede another name. O(length).
  fileprivate func removingOwner(_ module: String) -> String {
    let owner = module + "."
    guard contains(owner) else { return self }
    var result = ""
    var rest = self[...]
    while let range = rest.firstRange(of: owner) {
      result += rest[..<range.lowerBound]
      // For the module `App`, keep `MyApp.`, and `Shop.App.`, where `App` is not a module.
      if let before = result.last, before.isLetter || before.isNumber || before == "_" || before == "." {
        result += owner
      }
      rest = rest[range.upperBound...]
    }
    return result + rest
  }
}
