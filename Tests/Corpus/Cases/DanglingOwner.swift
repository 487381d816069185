// Live objects with unsafe references to objects that are gone.

final class RenderSurface {
  let width: Int
  init(width: Int) { self.width = width }
}

final class RenderPass {
  private unowned(unsafe) var surface: RenderSurface
  private var keptSurface: RenderSurface?
  private let width: Int

  init(surface: RenderSurface, keeping: RenderSurface?) {
    self.surface = surface
    keptSurface = keeping
    width = surface.width
  }

  func encode() { note(width) }
}

enum DanglingSurface: FaultyProgram {
  nonisolated(unsafe) private static var passes: [RenderPass] = []

  static func faulty() { for width in 0..<3 { render(width) } }
  static func correct() { for width in 0..<3 { renderKeeping(width) } }

  @inline(never) private static func render(_ width: Int) {
    let pass = RenderPass(surface: RenderSurface(width: width), keeping: nil)
    pass.encode()
    passes.append(pass)
  }

  @inline(never) private static func renderKeeping(_ width: Int) {
    let surface = RenderSurface(width: width)
    let pass = RenderPass(surface: surface, keeping: surface)
    pass.encode()
    passes.append(pass)
  }
}
