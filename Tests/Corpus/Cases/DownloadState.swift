// A cycle through the payload of an enumeration that has one case with a payload.

enum LoadingState {
  case idle
  case loading(Download)
  case finished
}

final class Download {
  let screen: DownloadScreen
  var progress = 0
  init(screen: DownloadScreen) { self.screen = screen }
}

final class DownloadScreen {
  private var state = LoadingState.idle

  func begin() {
    state = .loading(Download(screen: self))
    if case .loading(let download) = state { note(download.progress) }
  }

  func end() { state = .finished }
}

enum DownloadState: FaultyProgram {
  static func faulty() { for _ in 0..<5 { open() } }
  static func correct() { for _ in 0..<5 { openAndFinish() } }

  @inline(never) private static func open() {
    let screen = DownloadScreen()
    screen.begin()
    use(screen)
  }

  @inline(never) private static func openAndFinish() {
    let screen = DownloadScreen()
    screen.begin()
    screen.end()
  }
}
