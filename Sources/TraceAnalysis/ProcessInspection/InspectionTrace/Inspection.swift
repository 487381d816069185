// Writes a process or a core file as a trace.

import Glibc
import TextWriting
import TraceReading
import TraceSymbolication

/// Inspects the target of a command line.
package enum Inspection {
  /// - Parameters:
  ///   - target: The number of a process; anything else is the path of a core file.
  ///   - holds: If true, the process is stopped while it is read, and no copy of it is made.
  ///   - search: The places where the files of a core's images may be. A process has its own files.
  ///   - keepsTaskNames: If true, the image has the names that the program gave its tasks. Such a trace has text of the
  ///     program, so it must be temporary.
  ///   - path: The path of the trace; must not exist yet.
  package static func inspect(
    _ target: String, holds: Bool, search: DebugFileSearch = DebugFileSearch(), keepsTaskNames: Bool = false,
    to path: String
  ) throws -> InspectionSummary {
    if let process = Int32(target), process > 0 {
      return try inspect(process: process, holds: holds, keepsTaskNames: keepsTaskNames, to: path)
    }
    let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    let core = try CoreMemory(path: target, search: search, unpackingIn: directory)
    var facts = InspectedFacts()
    facts.processID = UInt32(bitPattern: core.processID)
    facts.parentProcessID = UInt32(bitPattern: core.parentProcessID)
    // The times in a trace must be above 0, but a core records no time.
    facts.nanoseconds = 8
    do {
      return try InspectionTrace.write(
        core, threads: core.threads, facts: facts, remarks: core.remarks, lacksMemory: core.lacksMemory,
        keepsTaskNames: keepsTaskNames, to: path)
    } catch InspectionError.noAllocator where core.lacksMemory {
      throw InspectionError.cutShort(path: target)
    }
  }

  private static func inspect(
    process: Int32, holds: Bool, keepsTaskNames: Bool, to path: String
  ) throws -> InspectionSummary {
    try TracingRights.check(process)
    let identity = ProcessIdentity(of: process)
    var facts = InspectedFacts(ofProcess: process)
    let copy = try ProcessCopy(of: process, holds: holds)
    defer { copy.end() }
    facts.pauseNanoseconds = copy.pauseNanoseconds
    let remarks =
      copy.missingThreads == 0
      ? [] : ["\(copy.missingThreads) threads did not stop: objects that only they refer to may look lost"]
    var summary: InspectionSummary
    do {
      summary = try InspectionTrace.write(
        copy.memory, threads: copy.threads, facts: facts, remarks: remarks, keepsTaskNames: keepsTaskNames, to: path)
    } catch let error as InspectionError {
      // The process may just have executed another program, which does not have an allocator or objects yet. Report the
      // exec instead.
      throw identity?.reason(for: error) ?? error
    }
    summary.files = InspectedFiles(
      ofProcess: process, mappings: copy.memory.mappings, images: MappedImages.images(in: copy.memory).map(\.image))
    copy.end()
    summary.pauseNanoseconds = holds ? 0 : copy.pauseNanoseconds
    return summary
  }
}

extension CoreMemory {
  /// Sentences about memory and files that the core lacks.
  var remarks: [String] {
    var remarks: [String] = []
    if isTruncated {
      remarks.append("the core file is cut short: it ends before all of the memory that its header lists")
    }
    if missingAnonymousBytes > 0 {
      remarks.append(
        "the core file lacks \(Decimal.bytes(missingAnonymousBytes)) of the process's own memory: its coredump_filter left it out, or its size was limited"
      )
    }
    if missingStacks > 0 {
      remarks.append(
        "the core file lacks the stacks of \(Decimal.counted(UInt64(missingStacks), "thread")): its writer met a guard page and left out the rest. gdb 13 does so for programs with glibc 2.42 or later. Let the kernel or gdb 18 write the core, or inspect the process itself"
      )
    }
    for path in missingFiles.prefix(Self.toldFiles) {
      remarks.append(
        "the core file lacks the contents of \(path), and no file with the same build ID was found: references from it do not count. Give the directory of the process's files with --sysroot"
      )
    }
    if missingFiles.count > Self.toldFiles {
      remarks.append("the core file lacks the contents of \(missingFiles.count - Self.toldFiles) more files")
    }
    return remarks
  }

  /// Maximum number of file names to list. More names would not help.
  private static let toldFiles = 3
}

extension InspectionSummary {
  /// One line that summarises the inspection.
  package func line(path: String?) -> String {
    let pause =
      pauseNanoseconds > 0
      ? "the process was stopped for \(Decimal.fixed(Double(pauseNanoseconds) / 1e6, places: 1)) ms; " : ""
    return
      "\(pause)\(Decimal.counted(UInt64(blocks), "block")), \(Decimal.grouped(UInt64(objects))) of them Swift objects, and \(Decimal.counted(UInt64(threads), "thread"))"
      + (path.map { ": \(PlainText.escaped($0))" } ?? "")
  }
}
