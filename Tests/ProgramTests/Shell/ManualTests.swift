// The files that packages install beside the command.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.command)) struct ManualTests {
  private func pages() throws -> (directory: String, names: [String]) {
    let directory = try CompletingShell.installed().path + "/share/man/man1"
    return (directory, try FileManager.default.contentsOfDirectory(atPath: directory).sorted())
  }

  @Test func everyCommandHasAPageWithItsOptions() throws {
    let (directory, names) = try pages()
    let help = try Command([BuildProducts.leaktrace, "--help"]).run().output
    let list = try #require(help.components(separatedBy: "SUBCOMMANDS:\n").last)
    let commands = list.split(separator: "\n", omittingEmptySubsequences: false).prefix { !$0.isEmpty }
      .filter { $0.dropFirst(2).first != " " }.compactMap { $0.split(separator: " ").first.map(String.init) }
    #expect(commands.contains("analyze") && commands.count > 15)
    #expect(names == (["leaktrace.1"] + commands.map { "leaktrace-\($0).1" }).sorted())
    for command in commands {
      let page = try String(contentsOfFile: "\(directory)/leaktrace-\(command).1", encoding: .utf8)
        .replacing("\\-", with: "-")
      let options = try Command([BuildProducts.leaktrace, "help", command]).run().output.split(separator: "\n")
        .filter { $0.hasPrefix("  -") }
        .flatMap { $0.split(whereSeparator: { " ,/".contains($0) }).prefix { $0.hasPrefix("-") } }
      #expect(!options.isEmpty)
      for option in options { #expect(page.contains("\\fB\(option)\\fR"), "\(command): \(option)") }
    }
  }

  @Test func commandPageHasAllSections() throws {
    let (directory, _) = try pages()
    let page = try String(contentsOfFile: directory + "/leaktrace-analyze.1", encoding: .utf8)
    let sections = page.split(separator: "\n").filter { $0.hasPrefix(".SH ") }.map { $0.dropFirst(4) }
    #expect(
      sections == [
        "NAME", "SYNOPSIS", "DESCRIPTION", "ARGUMENTS", "OPTIONS", "GATES", "\"EXIT STATUS\"", "\"SEE ALSO\"",
      ])
    #expect(page.contains("leaktrace\\-analyze \\- Report a traced program\\(aqs leaks and allocation sites\n"))
    let root = try String(contentsOfFile: directory + "/leaktrace.1", encoding: .utf8)
    #expect(root.contains(".SH ENVIRONMENT\nNO_COLOR"))
    #expect(root.contains("\\fBleaktrace\\-record\\fR(1)\n"))
  }

  @Test(.requires(.program("mandoc"))) func mandocReportsNoProblem() throws {
    let (directory, names) = try pages()
    let outcome = try Command(["mandoc", "-T", "lint", "-W", "style"] + names.map { "\(directory)/\($0)" }).run()
    #expect(outcome.end == .exit(0) && outcome.output.isEmpty && outcome.errorOutput.isEmpty, "\(outcome)")
  }

  @Test(.requires(.program("mandoc")), arguments: [60, 80, 120]) func pagesFitAnyWidth(width: Int) throws {
    let (directory, names) = try pages()
    for name in names {
      let text = try Command(["mandoc", "-T", "utf8", "-O", "width=\(width)", "\(directory)/\(name)"]).run().output
        .replacing(try Regex(".\u{8}"), with: "")
      #expect(text.contains("SYNOPSIS\n") && !text.contains("\\"), "\(name): \(text)")
      for line in text.split(separator: "\n") where line.contains(" ") {
        #expect(line.count <= width, "\(name): \(line)")
      }
    }
  }

  @Test func equalSourcesGiveEqualFiles() throws {
    let first = try TemporaryDirectory(), second = try TemporaryDirectory()
    for directory in [first, second] {
      var command = Command([BuildProducts.packageRoot + "/scripts/manuals", directory.path, BuildProducts.leaktrace])
      command.environment["SOURCE_DATE_EPOCH"] = "1700000000"
      // The files do not depend on the user's language or the width of the terminal.
      command.environment["COLUMNS"] = directory === first ? "60" : "200"
      command.environment["LC_ALL"] = directory === first ? "C" : "C.UTF-8"
      #expect(try command.run().end == .exit(0))
    }
    let difference = try Command(["diff", "-r", first.path, second.path]).run()
    #expect(difference.end == .exit(0), "\(difference.output)")
    let page = try String(contentsOfFile: first.path + "/share/man/man1/leaktrace.1", encoding: .utf8)
    #expect(page.contains(".TH LEAKTRACE 1 2023-11-14 "))
  }

  @Test func missingCommandIsReported() throws {
    let directory = try TemporaryDirectory()
    let script = BuildProducts.packageRoot + "/scripts/manuals"
    let outcome = try Command([script, directory.path, "/no/such/command"]).run()
    #expect(outcome.end == .exit(1) && outcome.errorOutput == "manuals: there is no command /no/such/command\n")
    #expect(try Command([script]).run().end == .exit(64))
    #expect(try directory.fileNames() == [])
  }
}
