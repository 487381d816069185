// Finds the functions of frames by the toolchain's own symbolizer and demangler, without any code of the analysis.

import Foundation

/// The functions of many frames, which are looked up together.
struct FunctionNames {
  private var names: [PrintedFrame: [String]] = [:]

  /// Returns the functions of a frame: first the inlined functions, innermost first, and then the function itself.
  /// Returns an empty list if the function is unknown.
  subscript(frame: PrintedFrame) -> [String] { names[frame] ?? [] }

  init(_ frames: Set<PrintedFrame>, images: [PrintedImage]) throws {
    for image in images {
      let inside = frames.filter { image.range.contains($0.codeAddress) }
      if inside.isEmpty { continue }
      var symbolizer = Command([
        BuildProducts.toolchain + "/llvm-symbolizer", "--no-demangle", "--inlines", "--obj", image.path,
      ])
      let order = Array(inside)
      symbolizer.input = Array(
        order.map { "0x" + String($0.codeAddress - image.loadBias, radix: 16) + "\n" }.joined().utf8)
      // The symbolizer prints a block of lines for each address. The block has a function and its place for each level
      // of inlining. An empty line ends the block.
      let blocks = try symbolizer.run().output.components(separatedBy: "\n\n")
      guard blocks.count >= order.count else {
        throw CommandFailure("llvm-symbolizer answered \(blocks.count) of \(order.count)")
      }
      for (frame, block) in zip(order, blocks) {
        let lines = block.split(separator: "\n").enumerated()
        names[frame] = lines.filter { $0.offset % 2 == 0 && $0.element != "??" }.map { String($0.element) }
      }
    }
    let mangled = Array(Set(names.values.joined()))
    var demangler = Command([BuildProducts.toolchain + "/swift-demangle", "--compact", "--simplified"])
    demangler.input = Array(mangled.map { $0 + "\n" }.joined().utf8)
    let demangled = try demangler.run().output.split(separator: "\n").map(String.init)
    guard demangled.count == mangled.count else {
      throw CommandFailure("swift-demangle answered \(demangled.count) of \(mangled.count)")
    }
    let clear = Dictionary(uniqueKeysWithValues: zip(mangled, demangled))
    names = names.mapValues { $0.map { clear[$0]! } }
  }
}
