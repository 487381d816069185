// A function activation whose address has been looked up: names, source position, and the owner of its code.

import TraceReading

/// One function in a call stack, as in the source code. One recorded address has several if calls were inlined there.
package struct SourceFrame: Codable, Hashable, Sendable {
  /// The owner of a frame's code, so that a report can lead with the program's own line.
  package enum Kind: Codable, Hashable, Sendable {
    /// Code written for the program or for a package that it uses.
    case user
    /// The Swift runtime and libraries of the toolchain, the C and C++ libraries, the loader, the recorder itself.
    case systemLibrary
    /// Made by the compiler to join two pieces of code: it has no source line, and reports may fold it.
    case thunk
  }

  /// The part where an async function resumes after a suspension.
  package enum AsyncPart: Codable, Hashable, Sendable {
    /// The part after the `index`-th suspension that waits for a callee.
    case afterAwait(index: Int)
    /// The part after the `index`-th suspension that changes the executor or waits for a continuation.
    case afterSuspension(index: Int)
  }

  /// For people: leaves out modules, parameter types and specialization parameters if the rest still identifies the
  /// function. `module+0xoffset` or a bare address if nothing is known.
  package var function: String
  /// The demangled name with every type and module in it; equal to `function` if nothing more is known.
  package var fullFunction: String
  /// The linker name. `nil` if no symbol and no debug information name the function.
  package var mangledName: String?
  /// The image's path in the traced process; `nil` if no image covers the address.
  package var imagePath: String?
  /// An absolute path if the compiler recorded one.
  package var file: String?
  /// From 1; `nil` if unknown, or if the compiler attributes the code to no line.
  package var line: Int?
  /// From 1; `nil` if unknown.
  package var column: Int?
  /// The function's code was inlined into its caller, which is the next frame of the same address.
  package var isInlined: Bool
  package var kind: Kind
  /// The code belongs to an async function, or the frame is a suspended logical caller.
  package var isAsync: Bool
  /// Set for the later parts of an async function that the compiler split; the frame's name is the whole function's.
  package var asyncPart: AsyncPart?

  /// The last component of `imagePath`.
  package var imageName: String? { imagePath.map(fileName(ofPath:)) }

  /// The name of a closure, without the forwarder that passes it its context, and without the optimiser's additions.
  package var closureName: String {
    var name = function
    for prefix in ["partial apply forwarder for ", "partial apply for ", "specialized "] {
      while name.hasPrefix(prefix) { name.removeFirst(prefix.count) }
    }
    return name
  }

  /// `closureName` in a programmer's words: the compiler makes two closures of a method that is used as a value.
  package var closureTitle: String {
    let name = closureName
    guard name.hasPrefix(Self.methodReference) else { return name }
    return "method reference in " + name.dropFirst(Self.methodReference.count)
  }

  package static let methodReference = "implicit closure #2 in implicit closure #1 in "

  /// The function is known by a name and not just by its address.
  package var isNamed: Bool { mangledName != nil }

  /// The Swift module that declares the function, from its full name; nil for other languages, and if the name does not
  /// show it.
  package var swiftModule: String? {
    guard let mangledName, mangledName.hasPrefix("$s") || mangledName.hasPrefix("$S") || mangledName.hasPrefix("_$s")
    else { return nil }
    // "closure #1 (A.B) -> () in M.f()": the outermost declaration is last.
    var name = Substring(fullFunction)
    while let range = name.firstRange(of: " in ") { name = name[range.upperBound...] }
    if name.hasPrefix("static ") { name = name.dropFirst(7) }
    guard let dot = name.firstIndex(of: ".") else { return nil }
    let module = name[..<dot]
    return !module.isEmpty && module.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } ? String(module) : nil
  }
}

extension SourceFrame {
  /// `Download.swift:41`; the file alone if the line is unknown, and nil without a file.
  package var position: String? {
    file.map { file in line.map { "\(fileName(ofPath: file)):\($0)" } ?? fileName(ofPath: file) }
  }
}
