// Cycles through an enumeration with several payloads: two shapes, of different number.

enum CellContent {
  case picture(PictureView)
  case caption(CaptionView, size: Int)
  case separator(Int)
}

final class PictureView { var cell: GalleryCell? }
final class CaptionView { var cell: GalleryCell? }

final class GalleryCell {
  private var content = CellContent.separator(1)

  func showPicture() {
    let view = PictureView()
    view.cell = self
    content = .picture(view)
  }

  func showCaption(_ size: Int) {
    let view = CaptionView()
    view.cell = self
    content = .caption(view, size: size)
  }

  func prepareForReuse() { content = .separator(2) }

  var height: Int {
    switch content {
    case .picture: 120
    case .caption(_, let size): size
    case .separator(let size): size
    }
  }
}

enum Gallery: FaultyProgram {
  static func faulty() {
    for _ in 0..<3 { addPicture() }
    for size in 0..<4 { addCaption(size) }
  }

  static func correct() {
    for size in 0..<7 { addAndReuse(size) }
  }

  @inline(never) private static func addPicture() {
    let cell = GalleryCell()
    cell.showPicture()
    use(cell)
    note(cell.height)
  }

  @inline(never) private static func addCaption(_ size: Int) {
    let cell = GalleryCell()
    cell.showCaption(size)
    use(cell)
    note(cell.height)
  }

  @inline(never) private static func addAndReuse(_ size: Int) {
    let cell = GalleryCell()
    if size < 3 { cell.showPicture() } else { cell.showCaption(size) }
    note(cell.height)
    cell.prepareForReuse()
  }
}
