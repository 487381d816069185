final class Upload {
  var finished: (() -> Void)?
  var bytes: [UInt8]
  init(size: Int) { bytes = Array(repeating: 1, count: size) }
}

@main enum App {
  static func main() { for size in 1...10 { upload(size * 8) } }

  @inline(never) static func upload(_ size: Int) {
    let upload = Upload(size: size)
    upload.finished = { note(upload.bytes.count) }
    upload.finished?()
  }
}
