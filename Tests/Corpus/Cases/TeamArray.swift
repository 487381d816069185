// Objects in an array that refer to the array's owner.

final class Department {
  var teams: [Team] = []
}

final class Team {
  var department: Department?
  weak var home: Department?
  let size: Int
  init(size: Int) { self.size = size }
}

enum TeamArray: FaultyProgram {
  static func faulty() { for size in 0..<6 { load(size) } }
  static func correct() { for size in 0..<6 { loadWeakly(size) } }

  @inline(never) private static func load(_ size: Int) {
    let department = Department()
    department.teams = (1...3).map { Team(size: size * $0) }
    for team in department.teams { team.department = department }
    note(department.teams.reduce(0) { $0 + $1.size })
  }

  @inline(never) private static func loadWeakly(_ size: Int) {
    let department = Department()
    department.teams = (1...3).map { Team(size: size * $0) }
    for team in department.teams { team.home = department }
    note(department.teams.reduce(0) { $0 + $1.size })
  }
}
