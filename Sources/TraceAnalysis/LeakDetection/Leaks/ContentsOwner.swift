// Finds the owner of a lost block without a recorded allocation, by its type and the blocks that it keeps.

import HeapAnalysis
import PlatformRules
import TraceReading
import TraceSymbolication

/// Recognises the program's blocks by their types if there is no allocation stack. For one thread at a time.
///
/// A block without a type may be a library's own. Many libraries lose memory permanently, and their blocks look like
/// the program's blocks. Such a block counts as the program's only if it keeps an object of the program.
///
/// An object of a library's class may also keep an object of the program. Either the program or the library may have
/// lost such an object. It counts as the library's, so that the program is not accused.
struct ContentsOwner {
  private let graph: ObjectGraph
  private let definitions: TraceDefinitions

  init(_ graph: ObjectGraph, definitions: TraceDefinitions) { (self.graph, self.definitions) = (graph, definitions) }

  /// Returns `.unknown` if nothing shows that the block is the program's.
  func owner(of node: NodeID, keeping held: [UInt32: BlockSum]) -> LeakOwner {
    let type = graph.type(of: node)
    if isProgramsOwn(type) { return .program }
    guard held.keys.contains(where: { isProgramsOwn(graph.types[Int($0)]) }) else { return .unknown }
    return type.kind == .malloc ? .program : .library("of a library's class, with no record of its allocation")
  }

  /// Returns whether a type is the program's own: a class of the program, a collection of its values, a task, or a
  /// closure whose code is in one of the program's files.
  func isProgramsOwn(_ type: NodeType) -> Bool {
    switch type.kind {
    case .task: return true
    case .object, .array, .dictionary, .set:
      return TypeNames.modules(type.qualifiedName).contains { !SystemCode.isSystemModule($0) }
    case .closure, .box, .error:
      guard let metadata = definitions.types[type.typeID]?.metadata else { return false }
      let image = definitions.images.first { $0.image.range.contains(metadata) }
      return image.map { !SystemCode.isSystemImage($0.image.path) } ?? false
    case .sideTable, .malloc: return false
    }
  }
}

extension TypeNames {
  /// Returns the modules of all types that a name mentions: `Swift` and `App` for `Swift.Array<App.Node>`. Linear.
  static func modules(_ name: String) -> Set<String> {
    var modules: Set<String> = []
    var word: [UInt8] = []
    var isFirst = true
    for c in name.utf8 {
      let isName =
        c == 95 || (48...57).contains(c) || (65...90).contains(c) || (97...122).contains(c) || c >= 128
      if isName {
        word.append(c)
        continue
      }
      if c == UInt8(ascii: ".") {
        if isFirst, !word.isEmpty { modules.insert(String(decoding: word, as: UTF8.self)) }
        isFirst = false
      } else {
        isFirst = true
      }
      word = []
    }
    return modules
  }
}
