// Uploads are registered while they are under way. One in four fails, and the path of a failure forgets to take it off.

final class PictureUpload {
  let name: String
  private(set) var sent = 0

  init(name: String) { self.name = name }

  func send(_ bytes: Int) { sent += bytes }
}

final class UploadDesk {
  private struct Refused: Error {}

  private var active: [String: PictureUpload] = [:]
  private let isForgetful: Bool

  init(isForgetful: Bool) { self.isForgetful = isForgetful }

  func upload(_ number: Int) {
    let request = PictureUpload(name: "picture-\(number)")
    active[request.name] = request
    do {
      try store(request, number)
      active[request.name] = nil
    } catch {
      if !isForgetful { active[request.name] = nil }
    }
  }

  private func store(_ request: PictureUpload, _ number: Int) throws {
    for part in 0..<3 {
      request.send(part * 100)
      if part == 1, number % 4 == 2 { throw Refused() }
      note(request.sent)
    }
  }
}

enum FailedUploads: FaultyProgram {
  nonisolated(unsafe) private static var desk: UploadDesk?

  static func faulty() { work(UploadDesk(isForgetful: true)) }
  static func correct() { work(UploadDesk(isForgetful: false)) }

  @inline(never) private static func work(_ desk: UploadDesk) {
    self.desk = desk
    for number in 0..<160 { desk.upload(number) }
  }
}
