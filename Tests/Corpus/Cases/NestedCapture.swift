// A weak capture in an inner closure makes the outer one capture self strongly.

final class UploadQueue {
  private var pending: [() -> Void] = []
  func enqueue(_ work: @escaping () -> Void) { pending.append(work) }

  func drain() {
    for work in pending { work() }
    pending.removeAll()
  }
}

final class UploadScreen {
  private let queue = UploadQueue()
  private var onComplete: (() -> Void)?
  private var uploads = 0

  func prepare() {
    onComplete = { self.queue.enqueue { [weak self] in self?.uploads += 1 } }
  }

  func prepareWeakly() {
    onComplete = { [weak self] in self?.queue.enqueue { [weak self] in self?.uploads += 1 } }
  }

  func upload() {
    onComplete?()
    queue.drain()
    note(uploads)
  }
}

enum NestedCapture: FaultyProgram {
  static func faulty() { for _ in 0..<11 { upload() } }
  static func correct() { for _ in 0..<11 { uploadWeakly() } }

  @inline(never) private static func upload() {
    let screen = UploadScreen()
    screen.prepare()
    screen.upload()
  }

  @inline(never) private static func uploadWeakly() {
    let screen = UploadScreen()
    screen.prepareWeakly()
    screen.upload()
  }
}
