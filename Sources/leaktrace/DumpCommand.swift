// `leaktrace dump`: the raw records of a trace.

import ArgumentParser
import TraceAnalysis

struct DumpCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dump",
    abstract: "Print the raw records of a trace, one per line.",
    discussion: """
      Each line begins with the offset of the record's chunk in the file, a plus sign, and the record's offset in the \
      decompressed chunk. Fields have names: 'grep swift_allocObject', 'grep address=0x7f…'.
      """)

  @Argument(help: "The trace.", completion: .file())
  var trace: String

  @Flag(help: "Print events. Without any of these options, print everything except the contents of heap images.")
  var events = false

  @Flag(help: "Print definitions: stacks, types, images, samples, warnings.")
  var definitions = false

  @Flag(help: "Print the header, the chunks and the closing record.")
  var chunks = false

  @Flag(help: "Print one line per heap image: when and why it was taken, and whether it is complete.")
  var snapshots = false

  @Flag(help: "Print the contents of heap images: threads, regions and words.")
  var memory = false

  @Flag(help: "Print only events, merged by time across all threads.")
  var byTime = false

  @Flag(help: "Print everything even with --untrusted, which limits the output in proportion to the trace's size.")
  var all = false

  @OptionGroup var reading: ReadingOptions

  func run() throws {
    let reader: TraceReader
    do {
      reader = try TraceReader(path: trace, policy: reading.policy)
    } catch {
      complain(explanation(of: error, path: trace))
      throw ExitStatus.unreadable.code
    }
    var parts: Set<RecordDump.Part> = []
    if events { parts.insert(.events) }
    if definitions { parts.insert(.definitions) }
    if chunks { parts.insert(.chunks) }
    if snapshots { parts.insert(.snapshots) }
    if memory { parts.insert(.memory) }
    let dump = RecordDump(
      reader, parts: parts.isEmpty ? [.events, .definitions, .chunks, .snapshots] : parts,
      extent: all ? .everything : .asFileJustifies)
    let output = OutputBuffer()
    struct ReaderWentAway: Error {}
    func write(_ line: String) throws {
      try output.write(line)
      if output.isClosed { throw ReaderWentAway() }
    }
    var isCut = false
    do {
      do {
        if byTime {
          try dump.writeEventsByTime(write)
        } else {
          try dump.write(write)
        }
      } catch is RecordDump.BeyondFileSize {
        isCut = true
      }
      try output.flush()
    } catch is ReaderWentAway {
      return
    } catch OutputBuffer.Failure.write(let code) {
      complain("cannot write the records: errno \(code)")
      throw ExitStatus.outputFailed.code
    }
    for diagnostic in reader.diagnostics.first { complain("\(trace): \(diagnostic.explanation)") }
    if isCut {
      complain("\(trace): output stopped in proportion to the size of the trace. Print everything with --all.")
    }
    if isCut { throw ExitStatus.refused.code }
    let status = ExitStatus(reader.diagnostics)
    if status != .success { throw status.code }
  }
}
