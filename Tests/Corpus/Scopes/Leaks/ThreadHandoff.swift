// Jobs go from a decoding thread to an encoding thread. Jobs that want a receipt wait in the encoder's inbox for one that is never sent.
import Foundation

final class TranscodeJob: @unchecked Sendable {
  let id: Int
  private var samples: [Int] = []

  init(id: Int) { self.id = id }

  var wantsReceipt: Bool { id % 8 == 0 }
  func decode() { samples = (0..<50).map { $0 * id } }
  func encode() { note(samples.reduce(0, &+)) }
}

final class TranscodeWorker: @unchecked Sendable {
  private let condition = NSCondition()
  private var inbox: [TranscodeJob] = []
  /// The number of jobs at the beginning of the inbox that are done, but were not taken out.
  private var waitingForReceipt = 0
  private var done = 0
  private let work: (TranscodeJob) -> Void
  private let keepsForReceipt: Bool

  init(name: String, keepsForReceipt: Bool, work: @escaping (TranscodeJob) -> Void) {
    self.work = work
    self.keepsForReceipt = keepsForReceipt
    let thread = Thread { self.run() }
    thread.name = name
    thread.start()
  }

  func hand(_ job: TranscodeJob) {
    condition.withLock {
      inbox.append(job)
      condition.broadcast()
    }
  }

  func waitUntilDone(_ count: Int) {
    condition.withLock { while done < count { condition.wait() } }
  }

  private func run() { while true { step() } }

  @inline(never) private func step() {
    let job = condition.withLock {
      while inbox.count == waitingForReceipt { condition.wait() }
      return inbox[waitingForReceipt]
    }
    work(job)
    condition.withLock {
      if keepsForReceipt, job.wantsReceipt { waitingForReceipt += 1 } else { inbox.remove(at: waitingForReceipt) }
      done += 1
      condition.broadcast()
    }
  }
}

enum ThreadHandoff: FaultyProgram {
  nonisolated(unsafe) private static var workers: [TranscodeWorker] = []

  static func faulty() { transcode(keepingForReceipt: true) }
  static func correct() { transcode(keepingForReceipt: false) }

  private static func transcode(keepingForReceipt: Bool) {
    let encoder = TranscodeWorker(name: "encoder", keepsForReceipt: keepingForReceipt) { $0.encode() }
    let decoder = TranscodeWorker(name: "decoder", keepsForReceipt: false) { job in
      job.decode()
      encoder.hand(job)
    }
    workers = [decoder, encoder]
    for id in 0..<240 {
      decoder.hand(TranscodeJob(id: id))
      // No more than a few are on their way at a time.
      if id % 6 == 5 {
        decoder.waitUntilDone(id + 1)
        encoder.waitUntilDone(id + 1)
      }
    }
    // Until both threads wait again.
    usleep(10_000)
  }
}
