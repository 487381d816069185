// `leaktrace mcp`: answers an agent's questions about leaks.

import ArgumentParser
import Glibc
import TraceAnalysis

struct McpCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mcp",
    abstract: "Serve tools for coding agents (Model Context Protocol over standard input and output).",
    discussion: """
      An agent starts this command, and calls its tools: findings, finding, why, tasks and verify read traces. record runs a program and inspect copies \
      a running process; they need --allow-record and --allow-inspect. See docs/agents.md.

      Each call is one run of leaktrace with 'brief-json' as its format, so a bad trace ends that run only.

      Exit status: 0 when the input ends, 5 standard output could not be written, 64 wrong usage.
      """)

  @Flag(help: "Let agents run and record programs with your rights.")
  var allowRecord = false

  @Flag(help: "Let agents inspect processes that you may trace.")
  var allowInspect = false

  @Option(
    help: ArgumentHelp("Directory for new traces (default: the current directory).", valueName: "directory"),
    completion: .directory)
  var traces: String = "."

  func validate() throws {
    var information = stat()
    guard stat(traces, &information) == 0, information.st_mode & S_IFMT == S_IFDIR else {
      throw ValidationError("There is no directory \(traces).")
    }
  }

  func run() throws {
    var allowed: Set<Tool.Permission> = []
    if allowRecord { allowed.insert(.record) }
    if allowInspect { allowed.insert(.inspect) }
    var server = AgentServer(
      ProtocolSession(tools: ToolCatalog(allowed: allowed), toolVersion: leaktraceVersion), traces: traces)
    guard server.serve() else { throw ExitStatus.outputFailed.code }
  }
}
