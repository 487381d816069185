// Results that tasks compute and that are read at the end; a timer for each part of a program.
import Foundation

final class RouteResult: Sendable {
  let stops: [String]
  init(number: Int) { stops = (0..<6).map { "stop \($0) of route \(number)" } }
}

/// The results of a group, by arrival.
enum GatheredRoutes: AsyncCleanProgram {
  static func correct() async {
    var results: [RouteResult] = []
    await withTaskGroup(of: RouteResult.self) { group in
      for number in 0..<200 { group.addTask { await plan(number) } }
      for await result in group { results.append(result) }
    }
    note(results.reduce(0) { $0 + $1.stops.count })
    // With everything still at hand.
    withExtendedLifetime(results) { exit(0) }
  }

  @inline(never) private static func plan(_ number: Int) async -> RouteResult {
    await Task.yield()
    return RouteResult(number: number)
  }
}

/// Each of two pools has a timer that looks for idle links. The timer keeps its pool until the program ends.
final class LinkPool: @unchecked Sendable {
  private let timer: any DispatchSourceTimer
  private let queue: DispatchQueue
  private var idle: [String] = []

  init(name: String) {
    queue = DispatchQueue(label: name)
    timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(deadline: .now() + .milliseconds(3), repeating: .milliseconds(3))
  }

  func start() {
    timer.setEventHandler { self.reap() }
    timer.resume()
  }

  func put(_ link: String) { queue.async { self.idle.append(link) } }

  private func reap() {
    if idle.count > 2 { idle.removeFirst() }
    note(idle.count)
  }
}

enum IdleReapers: CleanProgram {
  static func correct() {
    let pools = [makePool("catalogue"), makePool("orders")]
    for number in 0..<40 {
      pools[number % 2].put("link \(number) to the database")
      usleep(1_000)
    }
    settle()
  }

  @inline(never) private static func makePool(_ name: String) -> LinkPool {
    let pool = LinkPool(name: name)
    pool.start()
    return pool
  }
}

final class OutlineEntry {
  let title: String
  var entries: [OutlineEntry] = []
  init(_ title: String) { self.title = title }
}

/// Outlines of 121 entries; one in ten is bookmarked. Four are kept, not 484.
enum BookmarkedOutlines: CleanProgram {
  nonisolated(unsafe) private static var bookmarks: [OutlineEntry] = []

  static func correct() { for number in 0..<40 { read(number) } }

  @inline(never) private static func read(_ number: Int) {
    let outline = parse(levels: 4)
    note(outline.entries.count)
    if number % 10 == 9 { bookmarks.append(outline) }
    var lengths: [Int] = []
    for _ in 0..<50 { lengths = lengths.map { $0 + number } + [number] }
    note(lengths.reduce(0, &+))
  }

  private static func parse(levels: Int) -> OutlineEntry {
    let entry = OutlineEntry("section \(levels)")
    if levels > 0 { for _ in 0..<3 { entry.entries.append(parse(levels: levels - 1)) } }
    return entry
  }
}

/// All papers are handed in first. Then each gets its marks, one after the other, and a teacher's list keeps them all.
enum GradedPapers: CleanProgram {
  final class Paper {
    let answers: [Int]
    var marks: Marks?
    init(_ number: Int) { answers = (0..<6).map { (number &* 31 &+ $0) % 7 } }
  }

  final class Marks {
    let points: Int
    init(points: Int) { self.points = points }
  }

  final class Teacher {
    private var papers: [Paper] = []
    @inline(never) func take(_ number: Int) { papers.append(Paper(number)) }

    @inline(never) func grade() {
      for paper in papers {
        let sheet = paper.answers.map { "answer \($0)" }
        paper.marks = Marks(points: sheet.reduce(0) { $0 + $1.split(separator: " ").map(String.init).count })
      }
    }
  }

  static let teacher = Teacher()

  static func correct() {
    for number in 0..<900 { teacher.take(number) }
    teacher.grade()
  }
}
