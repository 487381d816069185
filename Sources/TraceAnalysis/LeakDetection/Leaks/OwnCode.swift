// Separates the program's own objects from the objects of the libraries that it uses.

import HeapAnalysis
import PlatformRules
import TextWriting
import TraceReading
import TraceSymbolication

extension FindingNaming {
  /// Returns the package that contains a Swift module; nil for the program's own modules and for the platform's.
  func package(ofModule module: String) -> String? {
    if let known = modulePackages[module] { return known }
    let package = packages.package(ofModule: module, file: sourceFile(ofModule: module))
    modulePackages[module] = .some(package)
    return package
  }

  /// Returns whether a node is an object of a class that the program itself declares.
  func isOwn(_ node: NodeID) -> Bool { isOwn(graph.type(of: node)) }

  func isOwn(_ type: NodeType) -> Bool { type.kind == .object && isOwn(module: type.module) }

  func isOwn(module: String) -> Bool {
    !module.isEmpty && !SystemCode.isSystemModule(module) && package(ofModule: module) == nil
  }

  /// Returns the function of the program itself that called for an object, if a package or a library of the operating
  /// system requested the memory. Nil if the program itself requested the memory, or if no function of the program
  /// called for the object. O(frames²) for an allocation's stack.
  func ownAllocation(_ site: SiteID, of type: NodeType) -> SourceFrame? {
    let frames = frames(of: site)
    let head = type.name.prefix { $0 != "<" }
    guard let made = allocation(site, of: type), let start = frames.firstIndex(of: made) else { return nil }
    for frame in frames[start...] {
      // If a loop calls other code back, none of the loop's callers requested this object.
      if AllocationFunctions.callsBack(frame) { return nil }
      guard frame.kind == .user, !isOfOperatingSystem(frame), !Self.isDefaultArgument(frame),
        packages.package(of: frame, among: frames) == nil
      else { continue }
      if type.kind == .object, DeclarationName.isInitialiser(frame.function, of: head) { continue }
      return frame == made ? nil : frame
    }
    return nil
  }

  func ownAllocation(of node: NodeID) -> SourceFrame? {
    ownAllocation(graph.heap[BlockID(node)].site, of: graph.type(of: node))
  }

  /// Returns whether a function computes a default argument. Such a function has no line. The code that calls it is the
  /// caller of the function that has the argument.
  private static func isDefaultArgument(_ frame: SourceFrame) -> Bool { frame.function.hasPrefix("default argument ") }

  /// Returns the library that made a block for its own use: a package by its name, or a part of the platform. Nil for
  /// blocks that the program made itself.
  func library(of node: NodeID) -> String? {
    let type = graph.type(of: node)
    if type.kind == .object, !type.module.isEmpty {
      if SystemCode.isSystemModule(type.module) { return Self.libraryName(ofModule: type.module) }
      return package(ofModule: type.module)
    }
    return maker(of: node)
  }

  /// Returns the library whose function requested a block for the library itself; nil if the program's function did.
  func maker(of node: NodeID) -> String? {
    if graph.taskOfSlab[node] != nil { return Self.runtime }
    let frames = frames(of: graph.heap[BlockID(node)].site)
    // A function that calls `malloc` for others, or that makes a collection grow, makes nothing for itself.
    guard
      let frame = frames.first(where: {
        !AllocationFunctions.isOne($0) && $0.kind != .thunk && !AllocationFunctions.isTransparent($0)
      })
    else { return nil }
    return library(of: frame, among: frames)
  }

  /// Returns the library that has a variable, and so owns the memory that only this variable leads to. Nil for the
  /// program's own variables.
  func library(ofRoot node: NodeID) -> String? {
    guard graph.isRoot(node), case .global(let image) = graph.root(node).kind,
      SystemCode.isSystemImage(graph.roots.images[image].path)
    else { return nil }
    return Self.libraryName(ofImage: fileName(ofPath: graph.roots.images[image].path))
  }

  /// Returns the library that contains a function; nil for the program's own functions.
  func library(of frame: SourceFrame, among frames: [SourceFrame]) -> String? {
    if frame.kind == .user {
      return isOfOperatingSystem(frame)
        ? frame.imageName.map(Self.withoutVersion) : packages.package(of: frame, among: frames)
    }
    guard let name = frame.mangledName else { return frame.imageName.map(Self.libraryName(ofImage:)) }
    if let module = PackageCode.module(ofMangled: name) { return Self.libraryName(ofModule: String(module)) }
    return Self.symbols.statement(for: name) ?? frame.imageName.map(Self.libraryName(ofImage:))
  }

  static let runtime = "the Swift runtime"

  private static let symbols = RuleBook.shipped.table(.partOf, by: .symbol)
  private static let modules = RuleBook.shipped.table(.partOf, by: .module)
  private static let images = RuleBook.shipped.table(.partOf, by: .image)

  private static func libraryName(ofModule module: String) -> String { modules.statement(for: module) ?? runtime }

  private static func libraryName(ofImage image: String) -> String {
    images.statement(for: image) ?? withoutVersion(image)
  }

  /// Returns a library's name without its version: `libcurl` for `libcurl.so.4`.
  private static func withoutVersion(_ image: String) -> String {
    guard let range = image.firstRange(of: ".so") else { return image }
    return String(image[..<range.lowerBound])
  }
}
