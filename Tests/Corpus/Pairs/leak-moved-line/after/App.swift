// A file of bytes on its way to a server.
//
// It says when it has arrived.

/// What is sent.
final class Upload {
  /// Called when all has arrived.
  var finished: (() -> Void)?
  var bytes: [UInt8]

  init(size: Int) {
    bytes = Array(repeating: 1, count: size)
  }
}

@main enum App {
  static func main() {
    for size in 1...10 {
      upload(size * 8)
    }
  }

  /// Sends as many bytes.
  @inline(never) static func upload(_ size: Int) {
    guard size > 0 else { return }
    note(size)

    let upload = Upload(
      size: size)
    upload.finished = {
      note(upload.bytes.count)
    }
    upload.finished?()
  }
}
