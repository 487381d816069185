// The command line tool.

import ArgumentParser
import Glibc

@main
struct Leaktrace: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "leaktrace",
    abstract: "Find what a Swift program leaks on Linux, and what keeps it alive.",
    discussion: """
      'leaktrace record -o app.trace -- COMMAND' records a program, and 'leaktrace analyze app.trace' says what it leaks.

      Environment: NO_COLOR, if it is not empty, and TERM=dumb turn colours off; the option --color overrides both. COLUMNS is the width \
      of text that does not go to a terminal. PATH has the programs to record, and the Swift toolchain that knows the layouts of types.
      """,
    version: leaktraceVersion,
    subcommands: [
      RecordCommand.self, AttachCommand.self, DetachCommand.self, CheckCommand.self, AnalyzeCommand.self,
      ReportCommand.self, WhyCommand.self, HistoryCommand.self, InspectCommand.self, WatchCommand.self,
      TasksCommand.self, DiffCommand.self, VerifyCommand.self, DigestCommand.self, ExportCommand.self,
      QueryCommand.self, NamesCommand.self, DumpCommand.self, PauseCommand.self, ResumeCommand.self,
      SnapshotCommand.self, SnapshotsCommand.self, PsCommand.self, McpCommand.self, DoctorCommand.self,
      DoctorChildCommand.self,
      ScopeReportCommand.self,
    ])

  /// The names of the commands that the help lists.
  static var commandNames: [String] {
    configuration.subcommands.map { $0.configuration }.filter(\.shouldDisplay).compactMap(\.commandName)
  }

  static func main() {
    let arguments = ProcessArguments.raw.dropFirst().map { String(cString: $0) }
    if let shell = CompletionScript.shell(askedForBy: arguments) {
      print(CompletionScript.text(for: shell))
      return
    }
    do {
      try Suggestion.checkCommand(arguments)
      var command = try parseAsRoot(arguments)
      try command.run()
    } catch {
      fail(error)
    }
  }

  /// Ends the process as ArgumentParser would. If there is a suggestion, adds it to the message.
  private static func fail(_ error: any Error) -> Never {
    guard let message = Suggestion.message(for: error) else { exit(withError: error) }
    ErrorOutput.write(message + "\n")
    Glibc.exit(ExitStatus.usage.rawValue)
  }
}
