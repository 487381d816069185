// What is known of one function activation once its address has been looked up: names, source position, and how much of it is the program's own.

/// One function in a call stack, as source code knows it. One recorded address gives several when calls were inlined there.
public struct SourceFrame: Codable, Hashable, Sendable {
  /// Whose code a frame is, so that a report can lead with the program's own line.
  public enum Kind: Codable, Hashable, Sendable {
    /// Code somebody wrote in the program or in a package it uses.
    case user
    /// The Swift runtime and libraries of the toolchain, the C and C++ libraries, the loader, the recorder itself.
    case systemLibrary
    /// Made by the compiler to join two pieces of code: nobody's line, and fit to be folded away.
    case thunk
  }

  /// Where an async function goes on after it had given its thread away.
  public enum AsyncPart: Codable, Hashable, Sendable {
    /// The part after the `index`-th suspension that waits for a callee.
    case afterAwait(index: Int)
    /// The part after the `index`-th suspension that changes the executor or waits for a continuation.
    case afterSuspension(index: Int)
  }

  /// For people: modules, parameter types and specialization parameters are left out where the rest still says which function it is.
  /// `module+0xoffset` or a bare address when nothing is known.
  public var function: String
  /// The demangled name with every type and module in it; equal to `function` when nothing more is known.
  public var fullFunction: String
  /// As the linker sees it. `nil` when no symbol and no debug information name the function.
  public var mangledName: String?
  /// The path the traced process knew the image by; `nil` if no image covers the address.
  public var imagePath: String?
  /// An absolute path where the compiler recorded one.
  public var file: String?
  /// From 1; `nil` when unknown or when the compiler attributes the code to no line.
  public var line: Int?
  /// From 1; `nil` when unknown.
  public var column: Int?
  /// The function's code stands inside its caller's, which is the next frame of the same address.
  public var isInlined: Bool
  public var kind: Kind
  /// The code belongs to an async function, or the frame is a suspended logical caller.
  public var isAsync: Bool
  /// Set for the later parts of an async function that the compiler split; the name is that of the whole function.
  public var asyncPart: AsyncPart?

  /// The last component of `imagePath`.
  public var imageName: String? { imagePath.map(fileName(ofPath:)) }

  /// Of a closure, without the forwarder that hands it its context, and without the optimiser's part.
  public var closureName: String {
    var name = function
    for prefix in ["partial apply forwarder for ", "partial apply for ", "specialized "] {
      while name.hasPrefix(prefix) { name.removeFirst(prefix.count) }
    }
    return name
  }

  /// The function is known by a name and not just by its address.
  public var isNamed: Bool { mangledName != nil }
}

/// The part of a path after its last slash. O(length).
func fileName(ofPath path: String) -> String {
  guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
  return String(path[path.utf8.index(after: slash)...])
}

/// The part of a path before its last slash; empty when there is none, or only the first. O(length).
func directory(ofPath path: String) -> String {
  guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "" }
  return String(path[..<slash])
}
