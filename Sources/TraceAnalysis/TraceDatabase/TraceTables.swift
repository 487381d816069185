// A trace as database tables.

import HeapAnalysis
import LeakDetection
import LeakGates
import TextWriting
import TraceExports
import TraceReading
import TraceSymbolication
import Wording

/// The contents of a database for one trace.
package struct TraceTables {
  private let path: String
  private let trace: AllocationAnalysis
  private let profile: StackProfile
  private let leaks: LeakReport
  private let heap: LeakAnalysis?
  private let hasHeapReferences: Bool

  /// `profile` must be of `trace`. `heap`: the analysis that `leaks` came from, for the blocks of the heap image; nil
  /// for no blocks. `heapReferences`: whether to include all references between the blocks. They outnumber the blocks.
  package init(
    path: String, _ trace: AllocationAnalysis, _ profile: StackProfile, leaks: LeakReport, heap: LeakAnalysis?,
    heapReferences: Bool
  ) {
    (self.path, self.trace, self.profile, self.leaks, self.heap) = (path, trace, profile, leaks, heap)
    hasHeapReferences = heapReferences
  }

  /// Returns a database in memory with the tables and views. Time and memory are linear in the frames of all sites, the
  /// blocks and the references.
  package func database() throws(DatabaseError) -> Database {
    let database = try Database()
    try fill(database)
    return database
  }

  /// Writes the database to an empty file. The memory is proportional to the sites. On return, the file is complete,
  /// but it may not be on the disk yet. If this function throws, the file is unusable.
  package func write(to file: String) throws(DatabaseError) {
    let database = try Database(file: file)
    // Locks and syncs are not needed: no other process knows the file, and an incomplete file is useless.
    try database.execute("PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = OFF;")
    try fill(database)
  }

  private func fill(_ database: Database) throws(DatabaseError) {
    try database.execute("PRAGMA page_size = 4096; PRAGMA journal_mode = OFF; BEGIN;" + TraceSchema.tables)
    let sites = SiteRows(profile)
    try writeRun(database)
    try write(sites, database)
    try writeFindings(database)
    try writeCurves(sites, database)
    try writeSamples(database)
    if let heap {
      try writeBlocks(heap, sites, database)
      // A list of tasks whose layout is unknown would be a guess.
      if heap.graph.types.contains(where: { $0.kind == .task }), heap.graph.taskRelations.unknownLayout == nil {
        try writeTasks(heap.taskInventory(), database)
      }
      if hasHeapReferences { try writeReferences(heap.graph, database) }
    }
    try database.execute(TraceSchema.views + "COMMIT;")
  }

  /// The number of the only run in a file. Users combine several runs by attaching one file to another.
  private static let run = SQLValue.integer(1)

  /// Writes rows to a table. `columns` must be the table's number of columns.
  private struct Rows {
    private let statement: PreparedStatement

    init(_ table: String, _ columns: Int, _ database: Database) throws(DatabaseError) {
      let parameters = Array(repeating: "?", count: columns).joined(separator: ",")
      statement = try PreparedStatement("INSERT INTO \(table) VALUES(\(parameters))", in: database)
    }

    func add(_ values: SQLValue...) throws(DatabaseError) { try statement.run(values) }
  }

  private func writeRun(_ database: Database) throws(DatabaseError) {
    let executable = trace.definitions.process.executable
    let image = trace.definitions.images.first { $0.image.path == executable }?.image
    let start = trace.header.startRealtime
    try Rows("runs", 16, database).add(
      Self.run, .name(path), .name(profile.program),
      image.flatMap { $0.buildID.isEmpty ? nil : SQLValue.text(Hexadecimal.digits($0.buildID)) } ?? .null,
      .number(UInt64(trace.header.processID)), start == 0 ? .null : .finite(Double(start) / 1e9),
      .finite(trace.duration),
      .number(trace.eventCount), .flag(!trace.diagnostics.isEmpty),
      .number(trace.atExit.liveBlocks), .number(trace.atExit.liveBytes), .number(trace.atPeak.liveBlocks),
      .number(trace.atPeak.liveBytes), .finite(trace.clock.seconds(at: trace.atPeak.time)),
      .number(leaks.snapshot.map { UInt64($0.number) }), .name(leaks.unavailable))
  }

  private func write(_ sites: SiteRows, _ database: Database) throws(DatabaseError) {
    let types = try Rows("types", 2, database)
    for (index, type) in sites.types.enumerated() { try types.add(.number(index + 1), .text(type)) }
    let frames = try Rows("frames", 7, database)
    for (index, line) in sites.frames.enumerated() { try write(line, number: index + 1, frames) }
    let stacks = try Rows("stacks", 3, database)
    for (index, stack) in sites.stacks.enumerated() {
      for (depth, frame) in stack.enumerated() {
        try stacks.add(.number(index + 1), .number(depth), .number(frame + 1))
      }
    }
    let rows = try Rows("sites", 18, database)
    for (index, row) in sites.rows.enumerated() {
      let total = row.total
      // The innermost line outside system libraries.
      let user = sites.stacks[row.stack].first { profile.functions[sites.frames[$0].function].kind == .user }
      try rows.add(
        .number(index + 1), Self.run, .number(row.type + 1), .number(row.stack + 1), .number(user.map { $0 + 1 }),
        .flag(row.isCut),
        .number(total.allocatedBlocks), .number(total.allocatedBytes), .number(total.liveBlocks),
        .number(total.liveBytes), .number(total.peakBlocks), .number(total.peakBytes), .number(total.temporaryBlocks),
        .number(total.temporaryBytes), profile.hasLeaks ? .number(row.leaked.blocks) : .null,
        profile.hasLeaks ? .number(row.leaked.bytes) : .null, profile.hasRetains ? .number(total.retains) : .null,
        profile.hasRetains ? .number(total.releases) : .null)
    }
  }

  private func write(_ line: StackProfile.Line, number: Int, _ frames: Rows) throws(DatabaseError) {
    let function = profile.functions[line.function]
    let kind =
      switch function.kind {
      case .user: "user"
      case .systemLibrary: "system"
      case .thunk: "thunk"
      }
    try frames.add(
      .number(number), .text(function.name), .text(function.mangledName),
      function.file.isEmpty ? .null : .text(function.file), line.line > 0 ? .number(line.line) : .null, .text(kind),
      .name(function.image))
  }

  private func writeFindings(_ database: Database) throws(DatabaseError) {
    let findings = try Rows("findings", 17, database)
    let objects = try Rows("finding_objects", 11, database)
    let references = try Rows("finding_references", 7, database)
    for (index, finding) in leaks.findings.enumerated() {
      let number = SQLValue.number(index + 1)
      let place = finding.origin
      try findings.add(
        number, Self.run, .text(finding.fingerprint), .text(finding.verdict.rawValue),
        .text(finding.certainty.rawValue), .flag(finding.isWeak), .flag(finding.isLibrary), .name(finding.suppression),
        .name(FindingTitle.subject(finding)), .number(finding.instances), .number(finding.retainedBlocks),
        .number(finding.retainedBytes.rawValue), .name(finding.evidence.retention?.holder), .name(place?.function),
        .name(place?.file), .number(place?.line), .name(finding.advice.map(AdviceWords.sentence).joined(separator: " "))
      )
      for (position, step) in finding.path.enumerated() {
        let place = step.kind == .closure ? step.code ?? step.place : step.place
        try objects.add(
          number, .number(position), .text(step.kind.key), .name(step.type), .name(step.qualifiedType),
          .address(step.address.rawValue), .number(step.size.rawValue), .name(step.library), .name(place?.function),
          .name(place?.file), .number(place?.line))
        guard let reference = step.reference else { continue }
        let next = position + 1 < finding.path.count ? position + 1 : finding.evidence.isCycle ? 0 : nil
        try references.add(
          number, .number(position), .number(next), .name(reference.name), .name(reference.closure?.closureTitle),
          .text(reference.strength.key),
          .flag(next != nil && next == finding.evidence.retention?.suspect))
      }
    }
  }

  /// Writes the numbers of live blocks over time. The moments divide the run's events into equal parts, one for each
  /// interval of a curve. Sites without a live block at any of these moments get no rows.
  private func writeCurves(_ sites: SiteRows, _ database: Database) throws(DatabaseError) {
    let rows = try Rows("site_samples", 3, database)
    let parts = UInt64(LiveCurves.intervals)
    let (step, rest) = trace.eventCount.quotientAndRemainder(dividingBy: parts)
    var moments = (1...parts).map { $0 * step + $0 * rest / parts }
    // With few events, some moments are zero or equal.
    moments = moments.filter { $0 > 0 }.reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    let byRow = sites.sitesByRow
    var next = 0
    while next < byRow.count {
      let row = sites.rowOfSite[byRow[next]]
      var counts = Array(repeating: UInt64(0), count: moments.count)
      while next < byRow.count, sites.rowOfSite[byRow[next]] == row {
        let curve = trace.sites[byRow[next]].liveCurve
        for (index, moment) in moments.enumerated() { counts[index] += curve.live(at: moment) }
        next += 1
      }
      guard counts.contains(where: { $0 > 0 }) else { continue }
      for (moment, count) in zip(moments, counts) {
        try rows.add(.number(row + 1), .number(moment), .number(count))
      }
    }
  }

  private func writeSamples(_ database: Database) throws(DatabaseError) {
    let samples = try Rows("resident_samples", 4, database)
    for sample in trace.definitions.memorySamples {
      try samples.add(
        Self.run, .finite(trace.clock.seconds(at: sample.time)), .number(sample.residentOfProgram),
        .number(sample.recorder))
    }
  }

  private func writeBlocks(_ heap: LeakAnalysis, _ sites: SiteRows, _ database: Database) throws(DatabaseError) {
    let rows = try Rows("blocks", 9, database)
    let graph = heap.graph
    let leaked = heap.leakedBlocks
    for (index, block) in graph.heap.blocks.enumerated() {
      let node = UInt32(index)
      try rows.add(
        .number(index + 1), Self.run, .address(block.address), .number(block.size),
        .number(sites.rowOfSite[Int(block.site.rawValue)] + 1), .text(graph.type(of: node).kind.key),
        trace.header.isInspection ? .null : .finite(trace.clock.seconds(at: block.birthTime)),
        leaked.map { .flag($0.contains(node)) } ?? .null,
        leaked?.contains(node) == true ? .name(heap.way(toLeaked: node)?.rawValue) : .null)
    }
  }

  private func writeTasks(_ inventory: TaskInventory, _ database: Database) throws(DatabaseError) {
    let rows = try Rows("task_rows", 23, database)
    for (index, row) in inventory.rows.enumerated() {
      // The innermost line of the program.
      let place = row.stack.first { $0.kind == .user }
      var awaited: String?
      switch row.wait {
      case .actor(let type)?: awaited = type
      case .task(let function)?, .child(let function)?: awaited = function?.closureTitle
      default: break
      }
      var holder: (name: String, root: String)?
      if case .holder(let name, let origin)? = row.resumer { holder = (name, origin) }
      try rows.add(
        .number(index + 1), Self.run, .text(row.state.rawValue), .number(row.count), .name(row.wait?.key),
        .name(awaited), .name(row.resumer?.key), .name(holder?.name), .name(holder?.root), .flag(row.isLeaked),
        .flag(row.isCancelled), row.priority.map { .number(UInt64($0)) } ?? .null, .name(place?.closureTitle),
        .name(place?.file), .number(place?.line),
        .text(row.stack.map { PlainText.escaped($0.closureTitle) }.joined(separator: "\n")),
        .name(row.function?.closureTitle), .name(row.creator?.closureTitle), .name(row.parent?.closureTitle),
        row.isGroupChild.map { .flag($0) } ?? .null,
        .text(row.locals.map { PlainText.escaped($0.variable ?? $0.type) }.joined(separator: "\n")),
        .number(row.bytes), .number(row.retainedBytes))
    }
    let tasks = try Rows("tasks", 9, database)
    for (index, task) in inventory.tasks.enumerated() {
      try tasks.add(
        .number(index + 1), .number(task.row + 1), .address(task.address.rawValue), .name(task.name),
        .number(task.parent.map { $0 + 1 }), .finite(task.age), .name(task.timer?.clock.rawValue),
        .finite(task.timer.map { Double($0.target) / 1e9 }), .finite(task.sleepLeft))
    }
  }

  /// Writes roots and references. Root numbers follow the numbers of all blocks.
  private func writeReferences(_ objects: ObjectGraph, _ database: Database) throws(DatabaseError) {
    let roots = try Rows("heap_roots", 2, database)
    for node in objects.rootNodes {
      try roots.add(.number(UInt64(node) + 1), .name(objects.rootName(node)))
    }
    let rows = try Rows("heap_references", 4, database)
    let graph = objects.graph
    for node in 0..<NodeID(graph.nodeCount) {
      for edge in graph.edges(from: node) {
        let label = graph.label(of: edge)
        let name = objects.isRoot(node) ? nil : objects.label(label).map(\.name)
        let strength = EdgeStrength(rawValue: graph.kind(of: edge)) ?? .conservative
        try rows.add(
          .number(UInt64(node) + 1), .number(UInt64(graph.target(of: edge)) + 1),
          name.map { $0.isEmpty ? .null : .name($0) } ?? .null, .text(strength.key))
      }
    }
  }
}
