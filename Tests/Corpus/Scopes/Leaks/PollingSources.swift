// Each session polls by a timer that only the timer's handler refers to. No session cancels it when it ends. libdispatch keeps the timers in one list.
import Foundation

final class PollingSession: @unchecked Sendable {
  private let timer: any DispatchSourceTimer
  private let room: String
  private var polls = 0

  init(room: String, queue: DispatchQueue) {
    self.room = room
    timer = DispatchSource.makeTimerSource(queue: queue)
  }

  func start() {
    timer.schedule(deadline: .now() + .milliseconds(2), repeating: .milliseconds(500))
    timer.setEventHandler { self.poll() }
    timer.resume()
  }

  func end() { timer.cancel() }

  private func poll() {
    polls += 1
    note(polls + room.count)
  }
}

enum PollingSources: FaultyProgram {
  private static let queue = DispatchQueue(label: "polls")

  static func faulty() { for number in 0..<12 { meet(number, ending: false) } }

  static func correct() {
    for number in 0..<12 { meet(number, ending: true) }
    // Until the cancelled sources have let go of their handlers.
    for _ in 0..<4 {
      queue.sync {}
      usleep(5_000)
    }
  }

  @inline(never) private static func meet(_ number: Int, ending: Bool) {
    let session = PollingSession(room: "room \(number) on the second floor", queue: queue)
    session.start()
    usleep(6_000)
    if ending { session.end() }
  }
}
