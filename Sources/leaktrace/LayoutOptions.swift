// Options for the width and the format of what a command prints.

import ArgumentParser
import TraceAnalysis

/// The width of text.
struct WidthOption: ParsableArguments {
  /// Below it, names have no room.
  private static let least = 40

  @Option(help: ArgumentHelp("Output width in columns (default: terminal width, or 80).", valueName: "columns"))
  var width: Int?

  func validate() throws {
    if let width, width < Self.least { throw ValidationError("--width must be at least \(Self.least) columns.") }
  }

  /// A style for standard output, in colour where that is a terminal.
  func style(stacks: TextStyle.Stacks = .folded, paths: TextStyle.Paths = .folded) -> TextStyle {
    let terminal = TerminalOutput()
    return TextStyle(
      width: width ?? terminal.columns, emphasis: terminal.showsEmphasis ? .terminal : .none, stacks: stacks,
      paths: paths)
  }
}

/// Text for people or JSON for programs.
struct FormatOption: ParsableArguments {
  enum Format: String, CaseIterable, ExpressibleByArgument { case text, json }

  @Option(help: "Output format.")
  var format: Format = .text
}
