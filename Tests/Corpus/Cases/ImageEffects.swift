// A cycle through an existential whose value, a class reference, is stored in the container itself.

protocol ImageEffect {
  func apply(_ pixel: Int) -> Int
}

final class BlurEffect: ImageEffect {
  var canvas: EffectCanvas?
  func apply(_ pixel: Int) -> Int { pixel / 2 }
}

final class EffectCanvas {
  var effect: any ImageEffect
  init(effect: any ImageEffect) { self.effect = effect }
}

struct NoEffect: ImageEffect {
  func apply(_ pixel: Int) -> Int { pixel }
}

enum ImageEffects: FaultyProgram {
  static func faulty() { for pixel in 0..<4 { draw(pixel) } }
  static func correct() { for pixel in 0..<4 { drawAndReset(pixel) } }

  @inline(never) private static func draw(_ pixel: Int) {
    let blur = BlurEffect()
    let canvas = EffectCanvas(effect: blur)
    blur.canvas = canvas
    note(canvas.effect.apply(pixel))
  }

  @inline(never) private static func drawAndReset(_ pixel: Int) {
    let blur = BlurEffect()
    let canvas = EffectCanvas(effect: blur)
    blur.canvas = canvas
    note(canvas.effect.apply(pixel))
    canvas.effect = NoEffect()
  }
}
