// Slides in a ring, which their carousel does not open when it ends.

final class Slide {
  let picture: Int
  var next: Slide?
  init(_ picture: Int) { self.picture = picture }
}

final class Carousel {
  private var last: Slide?

  func append(_ picture: Int) {
    let slide = Slide(picture)
    slide.next = last?.next ?? slide
    last?.next = slide
    last = slide
  }

  #if MENDED
    deinit { last?.next = nil }
  #endif

  func shown(after steps: Int) -> Int {
    var slide = last
    for _ in 0..<steps { slide = slide?.next }
    return slide?.picture ?? 0
  }

  @inline(never) static func turn() -> Int {
    var sum = 0
    for round in 0..<6 {
      let carousel = Carousel()
      for picture in 0..<5 { carousel.append(picture * round) }
      sum += carousel.shown(after: 17)
    }
    return sum
  }
}
