// Work that is to happen in an hour keeps each request until then.
import Foundation

final class UploadRequest: @unchecked Sendable {
  private let file: String
  private let chunks = Locked<[Int]>([])

  init(file: String) { self.file = file }

  func send(_ chunk: Int) { note(chunks.with { $0.append(chunk); return $0.count } + file.count) }
  func forgetChunks() { chunks.with { $0.removeAll() } }
}

enum DispatchQueueWork: FaultyProgram {
  private static let queue = DispatchQueue(label: "uploads")

  static func faulty() {
    for number in 0..<25 { upload(number, expiringIn: .seconds(3600), group: nil) }
    settle()
  }

  static func correct() {
    let group = DispatchGroup()
    for number in 0..<25 { upload(number, expiringIn: .milliseconds(5), group: group) }
    group.wait()
    // Until the last block has been let go of.
    queue.sync {}
    settle()
  }

  @inline(never) private static func upload(_ number: Int, expiringIn delay: DispatchTimeInterval, group: DispatchGroup?) {
    let request = UploadRequest(file: "holiday picture \(number).jpeg")
    for chunk in 0..<4 { request.send(chunk) }
    group?.enter()
    queue.asyncAfter(deadline: .now() + delay) {
      request.forgetChunks()
      group?.leave()
    }
  }
}
