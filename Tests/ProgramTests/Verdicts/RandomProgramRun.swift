// A run of random programs: compares the verdicts on objects with the later use of these objects.

import Foundation
import TextWriting
import TraceReading

/// Random programs of one process, and how the process is analysed.
struct RandomProgramBatch: Sendable, CustomStringConvertible {
  enum Way: String, Sendable { case recorded, light, inspected }

  var seed: UInt64
  var count: Int
  var optimisation = "-O"
  var way = Way.recorded
  var first = 0
  /// The numbers of operations that each program leaves out.
  var skipped: Set<Int> = []

  var description: String { "\(count) programs of seed \(seed), \(optimisation), \(way.rawValue)" }

  /// The number of operations of a program. It must equal the constant in random-programs.
  static let length = 40

  /// The arguments that repeat the run, and print the operations.
  var arguments: [String] {
    ["\(seed)", "\(first)", "\(count)"] + (seed % 2 == 1 ? ["threads"] : [])
      + (skipped.isEmpty ? [] : ["without=" + skipped.sorted().map(String.init).joined(separator: ",")])
  }

  /// Returns a batch with only one of the programs.
  func only(_ program: Int) -> RandomProgramBatch {
    var batch = self
    (batch.first, batch.count) = (program, 1)
    return batch
  }
}

/// The results of a batch.
struct RandomProgramRun: Sendable {
  /// An object that was proven to leak, although the program used it later.
  struct FalseProof: Sendable, CustomStringConvertible {
    var program: Int
    var kind: String
    var address: UInt64
    var fate: String
    var description: String { "\(kind) \(Hexadecimal.text(address)) of program \(program) was \(fate)" }
  }

  /// The number of objects that no program could use any more, and how many of them were reported.
  struct Share: Sendable {
    var leaked = 0
    var proven = 0
    var likely = 0
    static func + (a: Share, b: Share) -> Share {
      Share(leaked: a.leaked + b.leaked, proven: a.proven + b.proven, likely: a.likely + b.likely)
    }
  }

  var falseProofs: [FalseProof] = []
  /// The shares, by kind of object.
  var shares: [String: Share] = [:]
  /// Objects that were alive at the time of the image, and how many of them the programs used later.
  var objects = 0
  var used = 0

  /// The kinds of objects. The list must equal the one in random-programs.
  private static let kinds = [
    "plain", "derived", "registry", "callbacks", "mixed", "locked", "memory", "cell", "deferred", "heaped", "erased",
    "actor", "gate", "handle", "queue", "timer", "work", "executor", "record", "task",
  ]
  private enum Fate { static let ended = 1, used = 2, resumed = 4, freed = 8 }
  private static let entrySize = 16

  /// Runs the programs, and compares the verdicts with the later use.
  init(_ batch: RandomProgramBatch) throws {
    let directory = try TemporaryDirectory()
    let (ledger, trace) = ("\(directory.path)/ledger", "\(directory.path)/trace")
    let program = try RandomProgramRun.program(batch.optimisation).path()
    var command = Command([program, ledger] + batch.arguments)
    command.environment = Self.environment
    switch batch.way {
    case .recorded, .light:
      let options = batch.way == .light ? ["--light"] : batch.seed % 4 == 0 ? [] : ["--arc", "off"]
      command.arguments =
        [BuildProducts.leaktrace, "record", "--quiet", "-o", trace] + options + ["--"] + command.arguments
      let outcome = try command.run()
      guard outcome.end == .exit(0) else {
        throw CommandFailure("\(batch): \(outcome.end) \(outcome.errorOutput.suffix(2000))")
      }
    case .inspected:
      command.arguments.append("wait")
      let running = try command.start()
      try running.waitForErrorOutput(containing: "standing")
      let outcome = try Command(
        [BuildProducts.leaktrace, "inspect", "\(running.processID)", "-o", trace, "--format", "json"]
      ).run()
      running.send(SIGUSR1)
      guard try running.wait().end == .exit(0), outcome.end == .exit(0) else {
        throw CommandFailure("\(batch): \(outcome.end) \(outcome.errorOutput.suffix(2000))")
      }
    }
    let ways = try Self.ways(ofLeakedBlocksIn: trace)
    compare(try Data(contentsOf: URL(fileURLWithPath: ledger)), ways)
  }

  /// Makes the order of dictionaries equal in each run, so that a run can be repeated exactly.
  fileprivate static let environment = Command.cleanEnvironment.merging(["SWIFT_DETERMINISTIC_HASHING": "1"]) { $1 }

  static func program(_ optimisation: String) -> TestProgram {
    TestProgram(
      named: "random-programs", sources: ["random-programs"], flags: optimisation == "-O" ? [] : [optimisation])
  }

  /// Returns the way to each reported block, by the block's address. The way is empty if there is none.
  private static func ways(ofLeakedBlocksIn trace: String) throws -> [UInt64: String] {
    let outcome = try Command([
      BuildProducts.leaktrace, "query", trace, "--snapshot", "1", "--format", "csv", "--timeout", "500",
      "SELECT address, ifnull(way, '') FROM blocks WHERE is_leaked",
    ]).run()
    guard outcome.end == .exit(0) else { throw CommandFailure("query: \(outcome.end) \(outcome.errorOutput)") }
    var ways: [UInt64: String] = [:]
    for line in outcome.output.utf8.split(whereSeparator: { $0 == 10 || $0 == 13 }).dropFirst() {
      let text = Substring(line)
      guard let comma = text.firstIndex(of: ","), let address = UInt64(text[..<comma].dropFirst(2), radix: 16) else {
        throw CommandFailure("query: \(text)")
      }
      ways[address] = String(text[text.index(after: comma)...])
    }
    return ways
  }

  private mutating func compare(_ ledger: Data, _ ways: [UInt64: String]) {
    ledger.withUnsafeBytes { bytes in
      for start in stride(from: 0, through: bytes.count - Self.entrySize, by: Self.entrySize) {
        let address = bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)
        let program = bytes.loadUnaligned(fromByteOffset: start + 8, as: UInt32.self)
        let kind = Self.kinds[Int(bytes[start + 12])]
        let fate = Int(bytes[start + 13])
        if fate & Fate.ended != 0 || address == .max { continue }
        objects += 1
        let way = ways[address]
        guard fate != 0 else {
          shares[kind, default: Share()].leaked += 1
          if let way { way == "number" ? (shares[kind]!.likely += 1) : (shares[kind]!.proven += 1) }
          continue
        }
        used += 1
        // If an object has a weak or unowned reference, the report names that reference. A later use through it does
        // not contradict the report. But a task that such a reference can resume must not be reported as lost.
        guard let way, way == "" || (way == "reference" && fate & Fate.resumed != 0) else { continue }
        falseProofs.append(
          FalseProof(
            program: Int(program), kind: kind, address: address,
            fate: fate & Fate.resumed != 0 ? "resumed" : fate & Fate.used != 0 ? "used" : "freed"))
      }
    }
  }

  var share: Share { shares.values.reduce(Share(), +) }

  /// Describes in one line how much of each kind is reported.
  static func text(_ shares: [String: Share]) -> String {
    shares.sorted { $0.key < $1.key }.map { kind, share in
      "\(kind) \(share.proven)+\(share.likely) of \(share.leaked)"
    }.joined(separator: ", ")
  }
}

extension RandomProgramBatch {
  /// Leaves out all operations that are not needed for a false proof, and returns the text of the remaining program.
  /// Returns nil if the program has no false proof when it runs alone.
  func reduced() throws -> String? {
    var batch = self
    func fails(_ batch: RandomProgramBatch) -> Bool { (try? RandomProgramRun(batch))?.falseProofs.isEmpty == false }
    guard fails(batch) else { return nil }
    var size = Self.length / 2
    while size > 0 {
      for start in stride(from: 0, to: Self.length, by: size) {
        var less = batch
        less.skipped.formUnion(start..<min(Self.length, start + size))
        if less.skipped.count > batch.skipped.count, fails(less) { batch = less }
      }
      size /= 2
    }
    let directory = try TemporaryDirectory()
    var command = Command(
      [try RandomProgramRun.program(optimisation).path(), directory.path + "/ledger"] + batch.arguments + ["print"])
    command.environment = RandomProgramRun.environment
    return "random-programs LEDGER \(batch.arguments.joined(separator: " "))\n" + (try command.run().output)
  }
}
