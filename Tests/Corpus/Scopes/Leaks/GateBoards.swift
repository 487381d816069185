// Each board polls on the main actor until it is closed. Every third board is never closed. The others live long, too. The main actor is busy
// when the program ends: all sleeps are over, and all polling tasks wait for the main actor.
import Foundation

@MainActor
final class GateBoard {
  private let platform: Int
  private var isClosed = false
  private var polls = 0

  init(platform: Int) { self.platform = platform }

  func start() {
    Task {
      while !isClosed {
        poll()
        await pause()
      }
    }
  }

  func close() { isClosed = true }

  private nonisolated func pause() async { try? await Task.sleep(for: .milliseconds(4)) }

  private func poll() {
    polls += 1
    note(polls + platform)
  }
}

enum GateBoards: AsyncFaultyProgram {
  static func faulty() async { await display(closingAll: false) }
  static func correct() async { await display(closingAll: true) }

  @MainActor private static func display(closingAll: Bool) async {
    var shown: [GateBoard] = []
    for platform in 0..<24 {
      let board = open(platform)
      if closingAll || platform % 3 != 0 { shown.append(board) }
      try? await Task.sleep(for: .milliseconds(6))
      if shown.count > 9 { shown.removeFirst().close() }
    }
    for board in shown { board.close() }
    shown.removeAll()
    try? await Task.sleep(for: .milliseconds(40))
    // Until all sleeps are over.
    usleep(60_000)
    exit(EXIT_SUCCESS)
  }

  @MainActor @inline(never) private static func open(_ platform: Int) -> GateBoard {
    let board = GateBoard(platform: platform)
    board.start()
    return board
  }
}
