// A function in a stack after its address was looked up: names, source position, and the owner of the code.

import TextWriting
import TraceReading

/// One function in a call stack, as in the source code. A recorded address with inlined calls has several source
/// frames.
package struct SourceFrame: Codable, Hashable, Sendable {
  /// The owner of a frame's code, so that a report can show the program's own line first.
  package enum Kind: Codable, Hashable, Sendable {
    /// Code written for the program or for a package that it uses.
    case user
    /// The Swift runtime and libraries of the toolchain, the C and C++ libraries, the loader, the recorder itself.
    case systemLibrary
    /// Code that the compiler made to connect two functions. It has no source line, and reports may leave it out.
    case thunk
  }

  /// The part where an async function resumes after a suspension.
  package enum AsyncPart: Codable, Hashable, Sendable {
    /// The part after the `index`-th suspension that waits for a callee.
    case afterAwait(index: Int)
    /// The part after the `index`-th suspension that changes the executor or waits for a continuation.
    case afterSuspension(index: Int)
  }

  /// The short name for reports. It leaves out modules, parameter types and specialization parameters if the rest still
  /// identifies the function. `module+0xoffset` or a bare address if the name is unknown.
  package var function: String
  /// The demangled name with all types and modules; equal to `function` if nothing more is known.
  package var fullFunction: String
  /// The linkage name; `nil` if neither symbols nor debug information have a name.
  package var mangledName: String?
  /// The path of the loaded image in the traced process; `nil` if no loaded image covers the address.
  package var imagePath: String?
  /// The source file, with an absolute path if the compiler recorded one.
  package var file: String?
  /// The line, from 1. `nil` if unknown, or if the compiler attributes the code to no line.
  package var line: Int?
  /// The column, from 1; `nil` if unknown.
  package var column: Int?
  /// True if the function was inlined into its caller, which is the next frame of the same address.
  package var isInlined: Bool
  package var kind: Kind
  /// True if the code belongs to an async function, or if the frame is a suspended async caller.
  package var isAsync: Bool
  /// The part of an async function that the compiler split. Nil for the first part, and for other functions. The frame
  /// has the name of the whole function.
  package var asyncPart: AsyncPart?

  /// The last component of `imagePath`.
  package var imageName: String? { imagePath.map(fileName(ofPath:)) }

  /// The name of a closure, without the optimiser's prefixes, and without the prefixes of a forwarder that passes the
  /// context to the closure.
  package var closureName: String {
    var name = function
    for prefix in ["partial apply forwarder for ", "partial apply for ", "specialized "] {
      while name.hasPrefix(prefix) { name.removeFirst(prefix.count) }
    }
    return name
  }

  /// `closureName` in a programmer's words. For a method used as a value, the compiler makes two nested closures. The
  /// title is then `method reference in …`.
  package var closureTitle: String {
    let name = closureName
    guard name.hasPrefix(Self.methodReference) else { return name }
    return "method reference in " + name.dropFirst(Self.methodReference.count)
  }

  package static let methodReference = "implicit closure #2 in implicit closure #1 in "

  /// True if the name of the function is known, not only its address.
  package var isNamed: Bool { mangledName != nil }

  /// The Swift module that declares the function, from the full name. Nil for other languages, or if the name does not
  /// show it.
  package var swiftModule: String? {
    guard let mangledName, mangledName.hasPrefix("$s") || mangledName.hasPrefix("$S") || mangledName.hasPrefix("_$s")
    else { return nil }
    // The outermost declaration is last, as in "closure #1 (A.B) -> () in M.f()".
    var name = Substring(fullFunction)
    while let range = name.firstRange(of: " in ") { name = name[range.upperBound...] }
    if name.hasPrefix("static ") { name = name.dropFirst(7) }
    guard let dot = name.firstIndex(of: ".") else { return nil }
    let module = name[..<dot]
    return !module.isEmpty && module.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } ? String(module) : nil
  }
}

extension SourceFrame {
  /// The file and line, as in `Download.swift:41`. Only the file if the line is unknown, and nil if the file is
  /// unknown.
  package var position: String? {
    file.map { file in line.map { "\(fileName(ofPath: file)):\($0)" } ?? fileName(ofPath: file) }
  }
}
