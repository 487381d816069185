// Options for the width and the format of a command's output.

import ArgumentParser
import TraceAnalysis

/// Options for the width and the colours of text.
struct LayoutOptions: ParsableArguments {
  /// The smallest width that leaves room for names.
  private static let least = 40

  @Option(help: ArgumentHelp("Output width in columns (default: terminal width, or 80).", valueName: "columns"))
  var width: Int?

  @Option(
    help: ArgumentHelp(
      "Use colours and bold type: always, never, or on a terminal, unless NO_COLOR is set or TERM is dumb (auto).",
      valueName: "when"))
  var color: ColorUse = .auto

  func validate() throws {
    if let width, width < Self.least { throw ValidationError("--width must be at least \(Self.least) columns.") }
  }

  /// Returns the style for standard output.
  func style(stacks: TextStyle.Stacks = .folded, paths: TextStyle.Paths = .folded) -> TextStyle {
    let terminal = TerminalOutput()
    let isColored =
      switch color {
      case .auto: terminal.showsEmphasis
      case .always: true
      case .never: false
      }
    return TextStyle(
      width: width ?? terminal.columns, emphasis: isColored ? .terminal : .none, stacks: stacks, paths: paths)
  }
}

/// When to use colours and bold type.
enum ColorUse: String, CaseIterable, ChosenWord { case auto, always, never }

/// The option for the output format: text for people, or JSON for programs.
struct FormatOption: ParsableArguments {
  enum Format: String, CaseIterable, ChosenWord { case text, json }

  @Option(help: "Output format.")
  var format: Format = .text
}
