import ArgumentParser

@main
struct Leaktrace: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "leaktrace",
    abstract: "Finds what a Swift program leaks on Linux, and what keeps it alive.",
    subcommands: [
      RecordCommand.self, AnalyzeCommand.self, DumpCommand.self, PauseCommand.self, ResumeCommand.self,
    ])
}
