// Takes heap images of a process until there is a reason to stop.

import ArgumentParser
import Glibc
import TraceAnalysis

/// One watch of one process. Main thread only.
struct ProcessWatch {
  private let command: WatchCommand
  private let identity: ProcessIdentity
  private var threshold: SizeThreshold?
  private var traces: KeptTraces
  private var taken = 0
  private var failures = 0

  /// Seconds from one check of the process's existence and size to the next.
  private static let patience = 1.0

  /// Prints the reason and throws an exit status if the process cannot be watched.
  init(_ command: WatchCommand, _ target: String) throws {
    self.command = command
    let process: Int32
    do throws(ContainerProcess.Failure) {
      process = try ContainerProcess.resolve(target)
    } catch {
      complain("\(error)")
      throw ExitStatus.unreadable.code
    }
    guard let identity = ProcessIdentity(of: process), let use = ProcessMemoryUse(of: process) else {
      // `inspect` fails too, and its error says what is wrong with this process ID.
      let path = TemporaryDirectory.make()
      defer { if let path { rmdir(path) } }
      do { _ = try Inspection.inspect("\(process)", holds: false, to: (path ?? "/tmp") + "/none") } catch {
        complain("\(error)")
      }
      throw ExitStatus.unreadable.code
    }
    self.identity = identity
    if let above = command.above {
      if above.value(in: use) == nil {
        complain("process \(process) is in no control group with a limit; give --above a size, such as 2GiB.")
        throw ExitStatus.usage.code
      }
      threshold = SizeThreshold(limit: above.limit)
      // The first image already covers the current size, so the threshold starts from it.
      if let size = above.value(in: use) { _ = threshold?.isReached(by: size) }
    }
    traces = try KeptTraces(kept: command.output, limit: command.keep)
    let disk =
      command.output == nil
      ? "one trace at a time in a temporary directory" : "at most \(command.keep) traces in \(traces.directory)"
    ErrorOutput.print(
      "watching process \(process), \(identity.executable), every \(Decimal.duration(command.every.seconds)): \(disk)")
    ErrorOutput.print(
      "for each image the process \(ImageCost(use).words). It has \(Decimal.bytes(use.resident)) resident.")
  }

  /// Returns when the watch has ended. The report has the reason.
  mutating func run(_ report: inout WatchReport) throws {
    let signals = WatchSignals()
    report.process = WatchedProcess(program: identity.executable, processID: UInt32(identity.processID))
    let start = Self.now()
    let schedule = WatchSchedule(start: start, interval: command.every.seconds)
    let end = command.until.map { start + $0.seconds } ?? .infinity
    var due = start
    var mayGoOn = true
    while mayGoOn {
      mayGoOn = try takeImage(&report)
      if let count = command.count, taken >= count { break }
      let next = schedule.next(after: Self.now())
      let missed = schedule.missed(between: due, and: next)
      if missed > 0, mayGoOn { report.noteLeftOut(missed) }
      due = next
      while mayGoOn, Self.now() < due {
        let left = min(due, end) - Self.now()
        if left <= 0 { return }
        if signals.arrives(within: min(left, Self.patience)) { mayGoOn = false }
        if mayGoOn { mayGoOn = isThere(&report) }
        if mayGoOn, isAbove() { break }
      }
      if Self.now() >= end { break }
    }
    signals.letThrough()
  }

  /// Removes the traces that are not to be kept.
  func end() { traces.end() }

  private mutating func isAbove() -> Bool {
    guard threshold != nil, let above = command.above, let use = ProcessMemoryUse(of: identity.processID),
      let size = above.value(in: use)
    else { return false }
    return threshold!.isReached(by: size)
  }

  private func isThere(_ report: inout WatchReport) -> Bool {
    switch identity.standing {
    case .same: return true
    case .ended: report.note("the process has ended")
    case .replaced(let other):
      report.note(
        "the process has ended, and its number is another one's now\(other.executable.isEmpty ? "" : " (\(other.executable))"); watch that one by itself"
      )
    case .executed(let other):
      report.note("the process has become another program, \(other.executable); watch that one by itself")
    }
    return false
  }

  /// Takes an image. Returns false if no more images can be taken.
  private mutating func takeImage(_ report: inout WatchReport) throws -> Bool {
    guard isThere(&report) else { return false }
    let path = traces.next()
    do {
      let summary = try Inspection.inspect(
        "\(identity.processID)", holds: command.holdOption.hold, search: command.debugFiles.search, to: path)
      // Check that the inspected process was still the watched one.
      guard isThere(&report) else {
        traces.discard(path)
        return false
      }
      taken += 1
      traces.keep(path, time: Self.now())
      try report.add(path, summary)
      return true
    } catch let code as ExitCode {
      throw code
    } catch let error as TraceFormatError {
      traces.discard(path)
      complain(explanation(of: error, path: path))
      throw ExitStatus.outputFailed.code
    } catch {
      traces.discard(path)
      guard isThere(&report) else { return false }
      failures += 1
      complain("no image: \(error)\(taken > 0 ? "; going on" : "")")
      // If the first inspection fails, later ones would fail too.
      if taken == 0 { throw ExitStatus.unreadable.code }
      report.noteFailure(number: failures)
      return true
    }
  }

  private static func now() -> Double {
    var time = timespec()
    // This clock also runs while the machine sleeps.
    clock_gettime(CLOCK_BOOTTIME, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
