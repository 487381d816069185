// The keep-alive timer of each session is stored in a manager, and is not cancelled when the session ends.
import Foundation

final class StreamSession: @unchecked Sendable {
  let number: Int
  private var beats = 0

  init(number: Int) { self.number = number }

  func start() {
    let timer = DispatchSource.makeTimerSource(queue: KeepAliveTimers.queue)
    timer.schedule(deadline: .now(), repeating: .milliseconds(5))
    timer.setEventHandler { self.sendKeepAlive() }
    KeepAliveTimers.shared.timers.with { $0[number] = timer }
    timer.resume()
  }

  func end() { KeepAliveTimers.shared.cancel(number) }

  private func sendKeepAlive() {
    beats += 1
    note(beats)
  }
}

final class KeepAliveTimers: @unchecked Sendable {
  static let shared = KeepAliveTimers()
  static let queue = DispatchQueue(label: "keep-alive")
  let timers = Locked<[Int: any DispatchSourceTimer]>([:])

  func cancel(_ number: Int) { timers.with { $0.removeValue(forKey: number) }?.cancel() }
}

enum DispatchTimer: FaultyProgram {
  static func faulty() { for number in 0..<10 { stream(number, ending: false) } }

  static func correct() {
    for number in 0..<10 { stream(number, ending: true) }
    // Until the cancelled sources have let go of their handlers.
    for _ in 0..<4 {
      KeepAliveTimers.queue.sync {}
      usleep(5_000)
    }
  }

  @inline(never) private static func stream(_ number: Int, ending: Bool) {
    let session = StreamSession(number: number)
    session.start()
    usleep(8_000)
    if ending { session.end() }
  }
}
