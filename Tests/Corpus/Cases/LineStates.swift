// Lines that were open and are closed now: the part of the state that the closed case does not use may still have the address of the call. The calls are cycles.

private final class Call {
  var recording: Recording?
  var seconds = 90
}

private final class Recording {
  var call: Call?
  var name = 17
}

private enum LineState {
  case idle
  case open(number: Int, call: Call, since: Int)
  case ringing(number: Int, rings: Int)
  case closed(reason: Int)
}

private final class Line {
  private var state = LineState.idle

  @inline(never) func open(_ number: Int, _ call: Call) { state = .open(number: number, call: call, since: number + 5) }

  @inline(never) func close(_ reason: Int) {
    if case .open(_, let call, let since) = state { note(call.seconds + since) }
    state = .closed(reason: reason)
  }

  var code: Int { if case .closed(let reason) = state { reason } else { 0 } }
}

enum LineStates: FaultyProgram {
  nonisolated(unsafe) private static var lines: [Line] = []

  static func faulty() { answer(stopping: false) }
  static func correct() { answer(stopping: true) }

  private static func answer(stopping: Bool) {
    for _ in 0..<2 { lines.append(Line()) }
    for number in 0..<8 { talk(on: lines[number % 2], number, stopping: stopping) }
    note(lines.reduce(0) { $0 + $1.code })
  }

  @inline(never) private static func talk(on line: Line, _ number: Int, stopping: Bool) {
    let call = Call()
    let recording = Recording()
    call.recording = recording
    recording.call = call
    line.open(number, call)
    line.close(number)
    if stopping { recording.call = nil }
  }
}
