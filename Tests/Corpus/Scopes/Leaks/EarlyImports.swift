// Imports that fail stay registered; all of those are among the first, and much other work follows.

private final class ImportTask {
  let rows: [String]
  init(number: Int) { rows = (0..<5).map { "row \($0) of file \(number)" } }
}

private final class ImportCentre {
  nonisolated(unsafe) static let shared = ImportCentre()
  private var running: [Int: ImportTask] = [:]

  func begin(_ task: ImportTask, _ number: Int) { running[number] = task }
  func end(_ number: Int) { running[number] = nil }
}

enum EarlyImports: FaultyProgram {
  static func faulty() { work { $0 % 10 == 4 } }
  static func correct() { work { _ in false } }

  private static func work(stays: (Int) -> Bool) {
    for number in 0..<80 { importFile(number, stays: stays(number)) }
    for number in 0..<4000 { search("row \(number % 5) of file \(number)") }
  }

  @inline(never) private static func importFile(_ number: Int, stays: Bool) {
    let task = ImportTask(number: number)
    ImportCentre.shared.begin(task, number)
    for row in task.rows { note(row.split(separator: " ").count) }
    if !stays { ImportCentre.shared.end(number) }
  }

  @inline(never) private static func search(_ text: String) { note(text.split(separator: " ").map(String.init).sorted().count) }
}
