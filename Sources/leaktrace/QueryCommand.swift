// `leaktrace query`: answers a question in SQL about one trace.

import ArgumentParser
import TraceAnalysis

struct QueryCommand: LeakSearchingCommand {
  static let configuration = CommandConfiguration(
    commandName: "query",
    abstract: "Ask one question in SQL about a trace.",
    discussion: """
      The tables are the same as in 'leaktrace export --format sqlite': see docs/database.md. \
      "SELECT name, sql FROM sqlite_schema" lists them. Nothing is written, and no other file can be attached.

      Exit status: 0 success, 3 the trace is unreadable, 4 success, but the trace is damaged or incomplete, \
      5 the answer could not be written, or took too much time or memory, 6 some of an --untrusted trace was refused, 64 wrong usage, or the SQL is not valid.
      """)

  enum AnswerFormat: String, CaseIterable, ChosenWord { case table, csv, json }

  @Argument(help: ArgumentHelp("A trace, or a directory with a single one.", valueName: "trace"), completion: .file())
  var trace: String

  @Argument(help: ArgumentHelp("A SELECT statement.", valueName: "sql"))
  var sql: String

  @Option(help: "Format of the answer.")
  var format: AnswerFormat = .table

  @Option(help: ArgumentHelp("Give up the query after this time.", valueName: "seconds"))
  var timeout: Double = 60

  @Flag(help: "With every reference between the blocks of the heap image.")
  var heapReferences = false

  @OptionGroup var image: SearchedImageOption

  @OptionGroup var suppressions: SuppressionsOption

  @OptionGroup var debugFiles: DebugFileOptions

  @OptionGroup var ownModules: OwnModulesOption

  @OptionGroup var reading: ReadingOptions

  func validate() throws {
    guard timeout > 0, timeout <= Self.longestTimeout else {
      throw ValidationError("--timeout must be more than 0, and \(Int(Self.longestTimeout)) at most.")
    }
  }

  /// A day, in seconds.
  private static let longestTimeout = 86_400.0

  func run() throws {
    let path = try TraceListing.onlyTrace(at: trace)
    do {
      let source = TraceDatabaseSource(
        try LeakSearch(self, snapshot: image.snapshot), heapReferences: heapReferences)
      let (database, status) = try source.open(path)
      try answer(database)
      if status != .success { throw status.code }
    } catch let error as TraceFormatError {
      complain(explanation(of: error, path: path))
      throw ExitStatus.unreadable.code
    }
  }

  private func answer(_ database: Database) throws {
    let output = OutputBuffer()
    do {
      let answer = try database.answer(sql, seconds: timeout)
      var text = AnswerText(answer.columns, format: format)
      try output.write(text.start())
      while !output.isClosed, let row = try answer.next() { try output.write(text.row(row)) }
      try output.write(text.end())
      try output.flush()
      if text.isCut {
        complain("the table ends after \(AnswerText.longestTable) rows; --format csv writes all.")
      }
    } catch let error as DatabaseError {
      // Write the rows that came before the error, as other SQL tools do.
      try? output.flush()
      complain(
        error.isInterrupted
          ? "the query took longer than \(timeout) seconds; see --timeout."
          : error.isTooLarge
            ? "the query needs more than 1 GiB of memory."
            : error.isDenied ? "a query can only read the trace's tables." : error.message)
      throw error.isInterrupted || error.isTooLarge ? ExitStatus.outputFailed.code : ExitStatus.usage.code
    } catch OutputBuffer.Failure.write(let code) {
      complain("cannot write the answer: \(systemErrorText(code))")
      throw ExitStatus.outputFailed.code
    }
  }
}
