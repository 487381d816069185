// Repeated work: if the number of some objects grows with each round, they leak.

import CLeakTrace

extension LeakTrace {
  /// Runs `body` several times, and writes a heap image after each round. If a holder has more objects of some kind
  /// after every round from the third on, `leaktrace analyze` reports the holder, even though the objects are
  /// reachable. The first two rounds do not count, since they fill caches and make objects that are made only once.
  ///
  /// ```swift
  /// LeakTrace.repeat("open screen") {
  ///   let screen = navigator.open()
  ///   navigator.close(screen)
  /// }
  /// ```
  /// Each round should do the same work with new objects. Returns when the last image is written. An image takes
  /// milliseconds to seconds, depending on the size of the heap. Without a recorder, `repeat` only runs `body` `times`
  /// times. An error ends the repetition in the round that threw it.
  /// - Parameters:
  ///   - name: Shown with the objects that grow in number.
  ///   - times: The number of rounds. With fewer than five, nothing is reported. A bounded collection must reach its
  ///     limit in the first two rounds, or level off in the others.
  public static func `repeat`<Failure: Error>(
    _ name: @autoclosure () -> String = "", times: Int = 6, file: StaticString = #fileID, line: UInt = #line,
    _ body: () throws(Failure) -> Void
  ) throws(Failure) {
    guard cleaktrace_is_present() else {
      var left = times
      while left > 0 {
        try body()
        left -= 1
      }
      return
    }
    let repetition = Repetition(name(), file: file, line: line)
    var round = 1
    while round <= times {
      try body()
      repetition.end(round: round)
      round += 1
    }
  }

  /// Async variant. Runs `body` several times on the caller's actor, and writes a heap image after each round.
  ///
  /// Objects that other tasks leave behind count as well, so a round should wait for the tasks that it starts. The call
  /// blocks its thread while an image is written.
  public static func `repeat`<Failure: Error>(
    _ name: @autoclosure () -> String = "", times: Int = 6, file: StaticString = #fileID, line: UInt = #line,
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> Void
  ) async throws(Failure) {
    guard cleaktrace_is_present() else {
      var left = times
      while left > 0 {
        try await body()
        left -= 1
      }
      return
    }
    let repetition = Repetition(name(), file: file, line: line)
    var round = 1
    while round <= times {
      try await body()
      repetition.end(round: round)
      round += 1
    }
  }

  /// Repeated work that is being recorded.
  private struct Repetition {
    private let number: UInt64
    private let name: String
    private let file: StaticString
    private let line: UInt32

    init(_ name: String, file: StaticString, line: UInt) {
      number = cleaktrace_repetition_begin()
      (self.name, self.file, self.line) = (name, file, UInt32(clamping: line))
    }

    func end(round: Int) {
      cleaktrace_round_end(number, UInt64(round), 0, name, LeakTrace.text(file), line)
    }
  }
}
