// Each upload starts a thread that waits for an acknowledgement, which never comes.
import Foundation

final class Upload: @unchecked Sendable {
  private let name: String
  private let acknowledged = DispatchSemaphore(value: 0)

  init(name: String) { self.name = name }

  func start(_ started: DispatchSemaphore) {
    let thread = Thread {
      started.signal()
      self.acknowledged.wait()
      note(self.name.count)
    }
    thread.stackSize = 128 * 1024
    thread.start()
  }

  func acknowledge() { acknowledged.signal() }
}

enum WaitingThreads: FaultyProgram {
  static func faulty() {
    for number in 0..<30 { upload(number, acknowledging: false) }
    settle()
  }

  static func correct() {
    for number in 0..<30 { upload(number, acknowledging: true) }
    // The last threads still end.
    for _ in 0..<5 { settle() }
  }

  @inline(never) private static func upload(_ number: Int, acknowledging: Bool) {
    let upload = Upload(name: "picture \(number) of the journey")
    let started = DispatchSemaphore(value: 0)
    upload.start(started)
    started.wait()
    if acknowledging { upload.acknowledge() }
    usleep(2_000)
  }
}
