// A closure that captures a tuple with its owner in it.

final class ScoreBoard {
  private var update: (() -> Int)?
  private let points: Int
  init(points: Int) { self.points = points }

  func prepare(team: String) {
    let entry = (board: self, team: team)
    update = { entry.board.points + entry.team.count }
  }

  func show() { note(update?() ?? 0) }
  func reset() { update = nil }
}

enum TupleCapture: FaultyProgram {
  static func faulty() { for points in 0..<6 { play(points) } }
  static func correct() { for points in 0..<6 { playAndReset(points) } }

  @inline(never) private static func play(_ points: Int) {
    let board = ScoreBoard(points: points)
    board.prepare(team: "the team that plays at home")
    board.show()
  }

  @inline(never) private static func playAndReset(_ points: Int) {
    let board = ScoreBoard(points: points)
    board.prepare(team: "the team that plays at home")
    board.show()
    board.reset()
  }
}
