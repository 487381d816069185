// Data that is made to be there at the end: parsed, built, open, to be undone.
import Foundation

final class OrderRecord {
  let id: Int
  let customer: String
  let cents: Int

  init?(line: Substring) {
    let fields = line.split(separator: ";")
    guard fields.count == 3, let id = Int(fields[0]), let cents = Int(fields[2]) else { return nil }
    self.id = id
    customer = String(fields[1])
    self.cents = cents
  }
}

/// Every record of the input lives to the end, as is the purpose of a batch program.
enum RecordBatch: CleanProgram {
  static func correct() {
    var orders: [OrderRecord] = []
    let text = (0..<5000).map { "\($0);customer number \($0 % 700);\($0 &* 7919 % 10_007)" }.joined(separator: "\n")
    for line in text.split(separator: "\n") { read(line, into: &orders) }
    orders.sort { ($0.cents, $0.id) < ($1.cents, $1.id) }
    for order in orders.suffix(3) { print(order.id, order.customer, order.cents) }
    // Exits as many tools do: with all objects still alive.
    withExtendedLifetime(orders) { exit(0) }
  }

  @inline(never) private static func read(_ line: Substring, into orders: inout [OrderRecord]) {
    if let order = OrderRecord(line: line) { orders.append(order) }
  }
}

class SyntaxNode {
  func walk(_ visit: (SyntaxNode) -> Void) { visit(self) }
}

final class NumberNode: SyntaxNode {
  let value: Int
  init(value: Int) { self.value = value }
}

final class OperationNode: SyntaxNode {
  let symbol: Character
  let left: SyntaxNode
  let right: SyntaxNode

  init(_ symbol: Character, _ left: SyntaxNode, _ right: SyntaxNode) {
    self.symbol = symbol
    self.left = left
    self.right = right
  }

  override func walk(_ visit: (SyntaxNode) -> Void) {
    visit(self)
    left.walk(visit)
    right.walk(visit)
  }
}

/// Recursive descent over sums of products with parentheses.
struct SyntaxParser {
  private let characters: [Character]
  private var position = 0

  init(_ text: String) { characters = Array(text) }

  mutating func sum() -> SyntaxNode {
    var node = product()
    while let symbol = take("+-") { node = OperationNode(symbol, node, product()) }
    return node
  }

  private mutating func product() -> SyntaxNode {
    var node = atom()
    while let symbol = take("*/") { node = OperationNode(symbol, node, atom()) }
    return node
  }

  private mutating func atom() -> SyntaxNode {
    if take("(") != nil {
      let node = sum()
      _ = take(")")
      return node
    }
    var value = 0
    while let digit = take("0123456789") { value = value &* 10 &+ (digit.wholeNumberValue ?? 0) }
    return NumberNode(value: value)
  }

  private mutating func take(_ set: String) -> Character? {
    guard position < characters.count, set.contains(characters[position]) else { return nil }
    position += 1
    return characters[position - 1]
  }
}

/// A tree that grows while it is parsed, and is walked in the end.
enum SyntaxTree: CleanProgram {
  nonisolated(unsafe) private static var tree: SyntaxNode?

  static func correct() {
    let text = (1...120).map { "(\($0)+\($0 * 3))*\($0 % 9 + 1)" }.joined(separator: "+")
    var parser = SyntaxParser(text)
    let root = parser.sum()
    tree = root
    var nodes = 0
    root.walk { _ in nodes += 1 }
    note(nodes)
  }
}

final class DrawingCommand {
  let strokes: [Int]
  init(number: Int) { strokes = Array(repeating: number, count: number % 10 + 5) }
}

/// The last thirty commands can be undone; those before them are gone.
enum UndoStack: CleanProgram {
  nonisolated(unsafe) private static var commands: [DrawingCommand] = []

  static func correct() {
    for number in 0..<300 {
      draw(number)
      if number % 11 == 0 { undo() }
    }
    note(commands.count)
  }

  @inline(never) private static func draw(_ number: Int) {
    commands.append(DrawingCommand(number: number))
    if commands.count > 30 { commands.removeFirst() }
  }

  @inline(never) private static func undo() { note(commands.removeLast().strokes.count) }
}

final class OutlineItem {
  let title: String
  private(set) var children: [OutlineItem] = []
  private weak var parent: OutlineItem?

  init(title: String, parent: OutlineItem?) {
    self.title = title
    self.parent = parent
    parent?.children.append(self)
  }

  func removeLastChild() { children.removeLast() }
  var depth: Int { (parent?.depth ?? 0) + 1 }
}

final class OutlineDocument {
  let root = OutlineItem(title: "document", parent: nil)
}

/// A document that is open when the program ends, and another that was closed.
enum OpenDocument: CleanProgram {
  nonisolated(unsafe) private static var open: OutlineDocument?

  static func correct() {
    for _ in 0..<2 { openDocument() }
    edit()
  }

  @inline(never) private static func openDocument() {
    let document = OutlineDocument()
    open = document
    for chapter in 0..<12 { write(chapter, in: document) }
  }

  @inline(never) private static func write(_ chapter: Int, in document: OutlineDocument) {
    let item = OutlineItem(title: "chapter \(chapter)", parent: document.root)
    for section in 0..<8 { note(OutlineItem(title: "section \(section)", parent: item).depth) }
  }

  /// Sections that are written and thrown away.
  @inline(never) private static func edit() {
    guard let root = open?.root else { return }
    for number in 0..<40 {
      note(OutlineItem(title: "draft \(number)", parent: root).title.count)
      root.removeLastChild()
    }
  }
}
