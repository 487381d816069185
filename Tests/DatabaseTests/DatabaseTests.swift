import Foundation
import Testing
import TraceTestSupport

@testable import LeakDetection
@testable import LeakGates
@testable import TraceDatabase
@testable import TraceExports
@testable import TraceReading

/// Tables of a trace, and queries on them.
struct DatabaseTests {
  private static let functions: [UInt64: String] = [
    0x1000_1000: "main()", 0x1000_2000: "Store.load()", 0x1000_4000: "system swift_allocObject",
  ]

  /// Makes a cycle of two objects, and an object that a global variable holds.
  private func heap(type: String = "App.Item") -> HeapBuilder {
    let heap = HeapBuilder()
    heap.type(type, fields: [HeapBuilder.field("other", 0, type: type)])
    let stack: [UInt64] = [0x1000_1000, 0x1000_2000, 0x1000_4000]
    let (first, second) = (heap.object(type, stack: stack), heap.object(type, stack: stack))
    heap.set(first, 0, second)
    heap.set(second, 0, first)
    heap.global(heap.object(type, size: 64))
    return heap
  }

  private func database(_ heap: HeapBuilder, references: Bool = true) throws -> Database {
    try tables(heap, references: references).database()
  }

  private func tables(_ heap: HeapBuilder, references: Bool = true) throws -> TraceTables {
    let reader = try heap.reader()
    let snapshot = try #require(reader.snapshots.last)
    let allocations = AllocationAnalysis(reader, snapshot: snapshot)
    let analysis = try heap.analysis(Self.functions)
    let leaks = LeakReport(analysis)
    let profile = StackProfile(
      allocations, path: "a.trace", leaked: leaks.leaked, frameLimit: .max, naming: FunctionTable(Self.functions))
    return TraceTables(
      path: "a.trace", allocations, profile, leaks: leaks, heap: analysis, heapReferences: references)
  }

  private func rows(_ database: Database, _ query: String) throws -> [[SQLValue]] {
    let answer = try database.answer(query, seconds: 60)
    var rows: [[SQLValue]] = []
    while let row = try answer.next() { rows.append(row) }
    return rows
  }

  @Test func siteRowsMatchTheirStacks() throws {
    let database = try database(heap())
    #expect(
      try rows(
        database,
        "SELECT type, function, live_blocks, live_bytes, leaked_blocks, leaked_bytes FROM site_list ORDER BY id")
        == [
          [.text("App.Item"), .text("Store.load()"), .integer(2), .integer(96), .integer(2), .integer(96)],
          [.text("App.Item"), .text("main()"), .integer(1), .integer(64), .integer(0), .integer(0)],
        ])
    #expect(
      try rows(database, "SELECT function, kind FROM stack_list WHERE stack_id = 1 ORDER BY depth") == [
        [.text("swift_allocObject"), .text("system")], [.text("Store.load()"), .text("user")],
        [.text("main()"), .text("user")],
      ])
    #expect(
      try rows(database, "SELECT sites, live_bytes FROM function_totals WHERE function = 'main()'")
        == [[.integer(2), .integer(160)]])
    #expect(
      try rows(database, "SELECT sites, live_blocks, leaked_bytes FROM type_totals")
        == [[.integer(2), .integer(3), .integer(96)]])
  }

  @Test func sitesThatDifferOnlyInAddressesShareARow() throws {
    let heap = heap()
    // Both calls are on the same line.
    let items = [0x1000_3000, 0x1000_5000, 0x1000_3000].map { heap.object("App.Item", stack: [0x1000_1000, $0]) }
    for item in items { heap.global(item) }
    let database = try database(heap)
    #expect(
      try rows(database, "SELECT id, live_blocks, live_bytes, leaked_blocks FROM sites ORDER BY id") == [
        [.integer(1), .integer(2), .integer(96), .integer(2)], [.integer(2), .integer(1), .integer(64), .integer(0)],
        [.integer(3), .integer(3), .integer(144), .integer(0)],
      ])
    #expect(
      try rows(database, "SELECT site_id, count(*) FROM blocks GROUP BY site_id ORDER BY site_id")
        == [[.integer(1), .integer(2)], [.integer(2), .integer(1)], [.integer(3), .integer(3)]])
    #expect(
      try rows(database, "SELECT live_blocks FROM site_samples WHERE site_id = 3 ORDER BY events DESC LIMIT 1")
        == [[.integer(3)]])
    #expect(try rows(database, "SELECT count(DISTINCT stack_id) FROM stacks") == [[.integer(3)]])
  }

  @Test func findingRowsIncludeTheirPaths() throws {
    let database = try database(heap())
    #expect(
      try rows(database, "SELECT verdict, certainty, instances, retained_blocks, retained_bytes FROM findings")
        == [[.text("retainCycle"), .text("proven"), .integer(1), .integer(2), .integer(96)]])
    let path = try rows(
      database,
      """
      SELECT o.position, o.type, r.target, r.name, r.strength FROM finding_objects o
      JOIN finding_references r USING (finding_id, position) ORDER BY position
      """)
    #expect(
      path == [
        [.integer(0), .text("Item"), .integer(1), .text("other"), .text("strong")],
        [.integer(1), .text("Item"), .integer(0), .text("other"), .text("strong")],
      ])
  }

  @Test func blocksAndReferencesMatchTheHeapImage() throws {
    let database = try database(heap())
    #expect(
      try rows(database, "SELECT size, kind, is_leaked, way FROM blocks ORDER BY id") == [
        [.integer(48), .text("object"), .integer(1), .null], [.integer(48), .text("object"), .integer(1), .null],
        [.integer(64), .text("object"), .integer(0), .null],
      ])
    #expect(
      try rows(database, "SELECT source, target, name FROM heap_references WHERE source <= 3 ORDER BY source")
        == [[.integer(1), .integer(2), .text("other")], [.integer(2), .integer(1), .text("other")]])
    #expect(
      try rows(database, "SELECT r.name FROM heap_references h JOIN heap_roots r ON r.id = h.source WHERE target = 3")
        == [[.text("globals of app")]])
  }

  @Test func samplesFollowTheLiveBlocks() throws {
    let heap = heap()
    let stack: [UInt64] = [0x1000_1000, 0x1000_3000]
    let items = (0..<640).map { _ in heap.object("App.Item", stack: stack) }
    for item in items.dropFirst(40) { heap.free(item, stack: stack) }
    let samples = try rows(try database(heap), "SELECT events, live_blocks FROM live_samples ORDER BY events")
    #expect(samples.count == 32)
    let counts = samples.map { if case .integer(let count) = $0[1] { count } else { Int64(-1) } }
    #expect(samples.last?[0] == .integer(1243) && counts.last == 43)
    // Halfway through the run, all objects exist.
    #expect(
      abs((counts.max() ?? 0) - 643) <= 40
        && counts.firstIndex(of: counts.max() ?? 0).map { (14...18).contains($0) } == true)
    #expect(counts[0] < 80)
  }

  @Test func shortRunHasFewSamples() throws {
    let samples = try rows(try database(heap()), "SELECT events, live_blocks FROM live_samples ORDER BY events")
    #expect(samples.map { $0[0] } == [.integer(1), .integer(2), .integer(3)])
    // The samples of a curve do not show when a count changed within an interval.
    #expect(samples.last?[1] == .integer(3))
  }

  @Test func referencesAreIncludedOnlyOnRequest() throws {
    let database = try database(heap(), references: false)
    #expect(try rows(database, "SELECT count(*) FROM heap_references") == [[.integer(0)]])
    #expect(try rows(database, "SELECT count(*) FROM blocks") == [[.integer(3)]])
  }

  @Test func leaksAreNullWithoutAHeapImage() throws {
    let reader = try heap().reader()
    let allocations = AllocationAnalysis(reader)
    let profile = StackProfile(
      allocations, path: "a.trace", leaked: nil, frameLimit: .max, naming: FunctionTable(Self.functions))
    let database = try TraceTables(
      path: "a.trace", allocations, profile, leaks: LeakReport(unavailable: "no image"), heap: nil,
      heapReferences: true
    ).database()
    #expect(try rows(database, "SELECT DISTINCT leaked_bytes FROM sites") == [[.null]])
    #expect(try rows(database, "SELECT snapshot, findings_unavailable FROM runs") == [[.null, .text("no image")]])
  }

  @Test func tasksOfUnknownLayoutHaveNoRows() throws {
    let heap = heap()
    heap.type("Task", kind: .task, fields: nil)
    heap.global(heap.object("Task", size: 128))
    let database = try database(heap)
    #expect(try rows(database, "SELECT count(*) FROM blocks WHERE kind = 'task'") == [[.integer(1)]])
    for table in ["tasks", "task_rows"] {
      #expect(try rows(database, "SELECT count(*) FROM \(table)") == [[.integer(0)]])
    }
  }

  @Test func namesCannotInjectSQL() throws {
    let name = "A'); DROP TABLE runs; --\"\u{1B}[31m\u{202E}\0é"
    let database = try database(heap(type: name))
    #expect(
      try rows(database, "SELECT DISTINCT name FROM types")
        == [[.text("A'); DROP TABLE runs; --\"\\u{1b}[31m\\u{202e}\\u{0}é")]])
    #expect(try rows(database, "SELECT count(*) FROM runs") == [[.integer(1)]])
  }

  @Test func writtenDatabaseIsValid() throws {
    let file = try database(heap()).file()
    #expect(file.starts(with: Array("SQLite format 3\0".utf8)))
    #expect(file.count % 4096 == 0)
    #expect(try database(heap()).file() == file)
  }

  @Test func fileDatabaseHasTheSameRows() throws {
    let path = FileManager.default.temporaryDirectory.path + "/leaktrace-\(UUID().uuidString).db"
    #expect(FileManager.default.createFile(atPath: path, contents: nil))
    defer { try? FileManager.default.removeItem(atPath: path) }
    try tables(heap()).write(to: path)
    let written = try #require(FileManager.default.contents(atPath: path))
    #expect(written.starts(with: Array("SQLite format 3\0".utf8)))
    let (file, memory) = (try Database(file: path), try database(heap()))
    let tables = try rows(memory, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    #expect(tables.count == 15)
    for case .text(let table) in tables.map({ $0[0] }) {
      #expect(try rows(file, "SELECT * FROM \(table)") == rows(memory, "SELECT * FROM \(table)"), "\(table)")
    }
    #expect(throws: DatabaseError.self) { try self.tables(heap()).write(to: "/nonexistent/a.db") }
  }

  @Test(
    "A query can neither modify the database nor open a file",
    arguments: [
      "DELETE FROM runs", "DROP TABLE runs", "ATTACH '/tmp/other.db' AS other", "PRAGMA writable_schema = 1",
      "CREATE TEMP TABLE t(x)", "SELECT load_extension('x')", "VACUUM INTO '/tmp/other.db'",
    ])
  func readOnly(statement: String) throws {
    let database = try database(heap())
    #expect(throws: DatabaseError.self) { try database.answer(statement, seconds: 60) }
    #expect(try rows(database, "SELECT count(*) FROM runs") == [[.integer(1)]])
  }

  @Test(
    "A query must be one valid statement", arguments: ["", "  ;", "SELEC 1", "SELECT 1; SELECT 2", "SELECT nothing"])
  func oneStatement(text: String) throws {
    let database = try database(heap())
    #expect(throws: DatabaseError.self) { try database.answer(text, seconds: 60) }
  }

  @Test func endlessQueryTimesOut() throws {
    let database = try database(heap())
    let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
    let answer = try database.answer(endless, seconds: 0.01)
    let error = #expect(throws: DatabaseError.self) { try answer.next() }
    #expect(error?.isInterrupted == true)
    // The next query gets its own time limit.
    #expect(try rows(database, "SELECT 1;") == [[.integer(1)]])
  }

  @Test func valuesRoundTrip() throws {
    let database = try Database()
    #expect(
      try rows(database, "SELECT NULL, -9223372036854775808, 0.5, '', 'é', x'4100'") == [
        [.null, .integer(.min), .real(0.5), .text(""), .text("é"), .text("A\0")]
      ])
    #expect(SQLValue.number(UInt64.max) == .integer(.max))
    #expect(SQLValue.finite(.infinity) == .null)
  }
}
