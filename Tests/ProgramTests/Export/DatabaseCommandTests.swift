// Databases of traces, opened by SQLite's own command and by Python, and queried by `leaktrace query`.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder), .requires(.program("sqlite3"))) struct DatabaseCommandTests {
  private func ask(_ database: String, _ query: String) throws -> [String] {
    let outcome = try Command(["sqlite3", "-readonly", database, query]).run()
    #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
    return outcome.output.split(separator: "\n").map(String.init)
  }

  @Test("sqlite3 and Python read the report's figures from a database") func figures() throws {
    let recorded = try RecordedFeed.shared()
    let file = recorded.directory.path + "/feed.db"
    #expect(try recorded.export("--format", "sqlite", "-o", file).end == .exit(0))
    #expect(try ask(file, "PRAGMA integrity_check") == ["ok"])
    #expect(try ask(file, "PRAGMA foreign_key_check") == [])
    let names = [
      "allocatedBlocks", "allocatedBytes", "liveBlocks", "liveBytes", "peakBlocks", "peakBytes", "temporaryBlocks",
      "temporaryBytes",
    ]
    let totals = names.map { String(recorded.total[$0] ?? .max) }
    let sums =
      "sum(allocated_blocks), sum(allocated_bytes), sum(live_blocks), sum(live_bytes), sum(peak_blocks), "
      + "sum(peak_bytes), sum(temporary_blocks), sum(temporary_bytes)"
    let leaked = [String(recorded.leaked.blocks), String(recorded.leaked.bytes)]
    let all = (totals + leaked + [String(recorded.total["retains"] ?? .max)]).joined(separator: "|")
    #expect(try ask(file, "SELECT \(sums), sum(leaked_blocks), sum(leaked_bytes), sum(retains) FROM sites") == [all])
    #expect(
      try ask(file, "SELECT live_blocks, live_bytes FROM runs") == ["\(totals[2])|\(totals[3])"])
    #expect(
      try ask(file, "SELECT count(*), sum(size) FROM blocks WHERE is_leaked") == [leaked.joined(separator: "|")])
    #expect(
      try Set(ask(file, "SELECT type, live_bytes, allocated_blocks FROM type_totals"))
        == Set(
          recorded.types.map {
            "\($0.name)|\($0.total["liveBytes"] ?? .max)|\($0.total["allocatedBlocks"] ?? .max)"
          }))
    #expect(
      try ask(
        file, "SELECT fingerprint, verdict, certainty, instances, retained_blocks, retained_bytes FROM findings")
        == recorded.findings.map {
          "\($0.fingerprint)|\($0.verdict)|\($0.certainty)|\($0.instances)|\($0.retainedObjects)|\($0.retainedBytes)"
        })
    #expect(
      try ask(file, "SELECT live_blocks FROM live_samples ORDER BY events DESC LIMIT 1")
        == ask(file, "SELECT count(*) FROM blocks"))
    let script =
      "import sqlite3, sys; print(*sqlite3.connect(f'file:{sys.argv[1]}?mode=ro', uri=True).execute(sys.argv[2]).fetchone(), sep='|')"
    let python = try Command(["python3", "-c", script, file, "SELECT \(sums) FROM sites"]).run()
    #expect(python.output == totals.joined(separator: "|") + "\n", "\(python.errorOutput)")
  }

  @Test("A database replaces a whole file, or goes to standard output") func files() throws {
    let recorded = try RecordedFeed.shared()
    let folder = recorded.directory.path + "/out"
    let file = folder + "/feed.db"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    #expect(FileManager.default.createFile(atPath: file, contents: Data("old".utf8)))
    chmod(file, 0o640)
    #expect(try recorded.export("--format", "sqlite", "-o", file).end == .exit(0))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["feed.db"])
    #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o640)
    let piped = try Command([
      "sh", "-c", "\"$1\" export \"$2\" --format sqlite >\"$3\"", "sh", BuildProducts.leaktrace, recorded.trace,
      folder + "/piped.db",
    ]).run()
    #expect(piped.end == .exit(0), "\(piped.errorOutput)")
    #expect(try ask(folder + "/piped.db", ".dump") == ask(file, ".dump"))
    let nowhere = try recorded.export("--format", "sqlite", "-o", folder + "/none/feed.db")
    #expect(nowhere.end == .exit(5) && nowhere.errorOutput.contains("cannot write \(folder)/none/feed.db"))
  }

  @Test("A database can have every reference of the heap") func references() throws {
    let recorded = try RecordedFeed.shared()
    let file = recorded.directory.path + "/feed.db"
    #expect(try recorded.export("--format", "sqlite", "--heap-references", "-o", file).end == .exit(0))
    // The view model and its closure form the leaked cycle.
    let cycle = try ask(
      file,
      """
      SELECT DISTINCT h.name FROM heap_references h JOIN blocks b ON b.id = h.source JOIN site_list s ON s.id = b.site_id
      WHERE s.type LIKE '%TimelineViewModel' AND b.is_leaked AND h.name = 'onPage'
      """)
    #expect(cycle == ["onPage"])
    let unreached = try ask(
      file,
      """
      WITH RECURSIVE reached(id) AS (SELECT id FROM heap_roots UNION SELECT h.target FROM reached r
        JOIN heap_references h ON h.source = r.id WHERE h.strength NOT IN ('weak', 'unowned'))
      SELECT count(*) FROM blocks WHERE id NOT IN reached AND is_leaked
      """)
    #expect(unreached == [String(recorded.leaked.blocks)])
  }

  /// Returns the queries in the page about databases.
  static func documentedExamples() throws -> [String] {
    let document = try String(contentsOfFile: BuildProducts.packageRoot + "/docs/database.md", encoding: .utf8)
    return document.components(separatedBy: "```sql\n").dropFirst().compactMap {
      $0.components(separatedBy: "```").first
    }
  }

  @Test("The documented examples have answers") func examples() throws {
    let recorded = try RecordedFeed.shared()
    let file = recorded.directory.path + "/feed.db"
    #expect(try recorded.export("--format", "sqlite", "--heap-references", "-o", file).end == .exit(0))
    // This program has no tasks. `SleepingTaskTests` has the examples about tasks.
    let examples = try Self.documentedExamples().filter { !$0.contains("task_rows") }
    #expect(examples.count == 4)
    for example in examples {
      #expect(try !ask(file, example.replacing("App.Session", with: "main.Session")).isEmpty, "\(example)")
    }
  }

  @Test("A query that needs too much memory is refused", .secondTier) func largeQuery() throws {
    let sql = """
      WITH RECURSIVE n(x, b) AS (SELECT 1, randomblob(8000000) UNION ALL SELECT x + 1, randomblob(8000000) FROM n)
      SELECT count(DISTINCT b) FROM n
      """
    let recorded = try RecordedFeed.shared()
    defer { withExtendedLifetime(recorded.directory) {} }
    let outcome = try Command([BuildProducts.leaktrace, "query", recorded.trace, sql, "--timeout", "600"]).run()
    #expect(outcome.end == .exit(5) && outcome.errorOutput.contains("more than 1 GiB"), "\(outcome.errorOutput)")
  }

  @Test("A query is answered as a table, CSV or JSON") func query() throws {
    let recorded = try RecordedFeed.shared()
    func query(_ arguments: String...) throws -> Command.Outcome {
      try Command([BuildProducts.leaktrace, "query", recorded.trace] + arguments).run()
    }
    let sql = "SELECT verdict, retained_bytes, NULL AS missing FROM findings ORDER BY id LIMIT 1"
    let first = try #require(recorded.findings.first)
    #expect(
      try query(sql, "--format", "csv").output
        == "verdict,retained_bytes,missing\n\(first.verdict),\(first.retainedBytes),\n")
    #expect(
      try query(sql, "--format", "json").output
        == "[\n{\"verdict\":\"\(first.verdict)\",\"retained_bytes\":\(first.retainedBytes),\"missing\":null}\n]\n")
    let table = try query(sql).output.split(separator: "\n")
    #expect(
      table.count == 3 && table[0] == "verdict      retained_bytes  missing"
        && table[1].allSatisfy { "- ".contains($0) })
    #expect(
      try query("SELECT 'a,\"' || char(27) || char(10) AS x", "--format", "csv").output
        == "x\n\"a,\"\"\\u{1b}\\u{a}\"\n")
    #expect(try query("SELECT 1 WHERE 0", "--format", "json").output == "[]\n")
    for (sql, status, words) in [
      ("DELETE FROM runs", 64, "can only read"), ("SELECT 1; SELECT 2", 64, "more than one statement"),
      ("SELECT x", 64, "no such column: x"),
    ] as [(String, Int32, String)] {
      let outcome = try query(sql)
      #expect(outcome.end == .exit(status) && outcome.output.isEmpty, "\(sql)")
      #expect(outcome.errorOutput.contains(words), "\(outcome.errorOutput)")
    }
    let endless = try query(
      "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n", "--timeout", "0.2")
    #expect(endless.end == .exit(5) && endless.errorOutput.contains("longer than 0.2 seconds"))
    #expect(try query("SELECT 1", "--snapshot", "7").end == .exit(3))
    #expect(try query("SELECT 1", "--timeout", "0").end == .exit(64))
    let wrong = try recorded.export("--format", "dot", "--heap-references")
    #expect(wrong.end == .exit(64) && wrong.errorOutput.contains("--heap-references is for --format sqlite"))
  }
}
