// A cycle that is broken properly, next to an object that is retained once too often.

final class PreviewImage {
  var preview: Preview?
}

final class Preview {
  var image: PreviewImage?
}

enum OverRetained: FaultyProgram {
  static func faulty() { for _ in 0..<7 { show(retains: 2) } }
  static func correct() { for _ in 0..<7 { show(retains: 1) } }

  @inline(never) private static func show(retains: Int) {
    let preview = Preview()
    let image = PreviewImage()
    preview.image = image
    image.preview = preview
    let reference = Unmanaged.passUnretained(image)
    for _ in 0..<retains { _ = reference.retain() }
    note(retains)
    reference.release()
    image.preview = nil
  }
}
