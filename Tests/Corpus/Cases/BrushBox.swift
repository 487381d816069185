// A cycle through an existential whose value is too large for its container and is stored in a box.

protocol Brush {
  var width: Int { get }
}

struct TexturedBrush: Brush {
  var width: Int
  var spacing: Int
  var hardness: Int
  var easel: Easel?
}

final class Easel {
  var brush: (any Brush)?
}

enum BrushBox: FaultyProgram {
  static func faulty() { for width in 0..<5 { paint(width) } }
  static func correct() { for width in 0..<5 { paintAndClean(width) } }

  @inline(never) private static func paint(_ width: Int) {
    let easel = Easel()
    easel.brush = TexturedBrush(width: width, spacing: 2, hardness: 3, easel: easel)
    note(easel.brush?.width ?? 0)
  }

  @inline(never) private static func paintAndClean(_ width: Int) {
    let easel = Easel()
    easel.brush = TexturedBrush(width: width, spacing: 2, hardness: 3, easel: easel)
    note(easel.brush?.width ?? 0)
    easel.brush = nil
  }
}
