// A closure stored in what its captured object owns.

final class Connection {
  var onFinish: ((Int) -> Void)?
  func finish() { onFinish?(200) }
}

final class Download {
  private let connection = Connection()
  private var status = 0
  private let name: String
  init(_ name: String) { self.name = name }

  @inline(never) func start() {
    #if MENDED
      connection.onFinish = { [weak self] status in self?.status = status }
    #else
      connection.onFinish = { status in self.note(status, self.name.count) }  // to change
    #endif
    connection.finish()
  }

  @inline(never) private func note(_ status: Int, _ length: Int) { self.status = status + length }

  @inline(never) static func fetch() {
    for number in 0..<6 {
      let download = Download("file \(number)")
      download.start()
    }
  }
}
