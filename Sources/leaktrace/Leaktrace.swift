// The command line tool.

import ArgumentParser

@main
struct Leaktrace: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "leaktrace",
    abstract: "Find what a Swift program leaks on Linux, and what keeps it alive.",
    version: leaktraceVersion,
    subcommands: [
      RecordCommand.self, AttachCommand.self, DetachCommand.self, CheckCommand.self, AnalyzeCommand.self,
      ReportCommand.self, WhyCommand.self, HistoryCommand.self, InspectCommand.self, WatchCommand.self,
      DiffCommand.self, DigestCommand.self, ExportCommand.self,
      QueryCommand.self, NamesCommand.self, DumpCommand.self, PauseCommand.self, ResumeCommand.self,
      SnapshotCommand.self, SnapshotsCommand.self, PsCommand.self, ScopeReportCommand.self,
    ])

  static func main() { main(ProcessArguments.raw.dropFirst().map { String(cString: $0) }) }
}
