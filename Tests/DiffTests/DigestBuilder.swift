// Makes runs of invented programs from sites and findings.

@testable import AllocationReports
@testable import LeakDetection
@testable import RunDiff
@testable import TraceReading
@testable import TraceSymbolication

struct DigestBuilder {
  var digest = RunDigest(
    path: "/tmp/run.trace", program: "/bin/app", processes: 1, eventCount: 1000, recordsReferenceCounts: true,
    isDamaged: false, busyThreads: 1, total: SiteTotal(), scopes: [:], functions: [], frames: [], stacks: [],
    sites: [], findings: [], findingsUnavailable: nil, remarks: [])

  /// Adds a site. `functions`: innermost first.
  mutating func site(
    _ type: String, _ functions: [String], blocks: UInt64, retains: UInt64 = 0, live: UInt64 = 0, peak: UInt64 = 0,
    size: UInt64 = 64
  ) {
    var total = SiteTotal()
    total.allocatedBlocks = blocks
    total.allocatedBytes = blocks * size
    total.retains = retains
    total.releases = retains
    total.liveBlocks = live
    total.liveBytes = live * size
    total.peakBlocks = peak
    total.peakBytes = peak * size
    var stack: Int32 = -1
    for function in functions.reversed() {
      digest.frames.append(DiffFrame(function: function, stableName: StableName.of(function), file: nil, line: nil))
      digest.stacks.append(RunDigest.StackNode(caller: stack, frame: Int32(digest.frames.count - 1)))
      stack = Int32(digest.stacks.count - 1)
    }
    digest.sites.append(
      RunDigest.Site(
        type: type, operation: "object", innermost: Int32(digest.frames.count - 1), stack: stack, total: total))
    digest.total += total
  }

  /// Adds the estimates for a stack: bytes and their standard errors. `functions`: innermost first.
  mutating func estimate(_ functions: [String], live: (Double, Double), allocated: (Double, Double)) {
    var stack: Int32 = -1
    for function in functions.reversed() {
      digest.frames.append(DiffFrame(function: function, stableName: StableName.of(function), file: nil, line: nil))
      digest.stacks.append(RunDigest.StackNode(caller: stack, frame: Int32(digest.frames.count - 1)))
      stack = Int32(digest.stacks.count - 1)
    }
    digest.estimates =
      (digest.estimates ?? []) + [
        RunDigest.Estimate(
          innermost: functions.isEmpty ? -1 : Int32(digest.frames.count - 1), stack: stack,
          allocated: ByteEstimate(bytes: UInt64(allocated.0), error: allocated.1),
          live: ByteEstimate(bytes: UInt64(live.0), error: live.1))
      ]
    digest.samplePeriod = 512 << 10
    digest.isLight = true
  }

  static func frame(_ function: String, file: String? = nil, line: Int? = nil) -> SourceFrame {
    SourceFrame(
      function: function, fullFunction: "App.\(function)", mangledName: "$s\(function)", imagePath: "/bin/app",
      file: file, line: line, column: nil,
      isInlined: false, kind: .user, isAsync: false, asyncPart: nil)
  }

  /// Makes a step of a path: the type, the functions that allocated the object, innermost first, and the field that
  /// refers to the next step.
  static func step(_ type: String, _ functions: [String], _ field: String?, fields: [String] = []) -> (
    Finding.Step, [String]
  ) {
    let reference = field.map {
      Finding.Reference(
        name: $0, strength: .strong, isClosure: false, isCapture: false, capturesSelf: false, closure: nil,
        caseName: nil)
    }
    let step = Finding.Step(
      kind: .object, type: type, qualifiedType: "App.\(type)", function: nil,
      allocation: functions.first.map { frame($0) }, stack: StackID(0),
      address: RuntimeAddress(0x1000), size: ByteCount(64), reference: reference, fields: fields)
    return (step, functions.map { StableName.of($0) })
  }

  mutating func cycle(_ steps: [(Finding.Step, [String])], instances: Int = 1, retained: UInt64 = 128) {
    add(.cycle, steps, instances: instances, retained: retained)
  }

  mutating func lost(_ step: (Finding.Step, [String]), instances: Int = 1, retained: UInt64 = 64) {
    add(.lost(nil), [step], instances: instances, retained: retained)
  }

  /// Adds lost memory without a type. Some of its blocks were sampled.
  mutating func lostMemory(_ functions: [String], instances: Int, sampled: Int) {
    var step = Self.step("malloc", functions, nil)
    step.0.kind = .malloc
    add(.lost(nil), [step], instances: instances, retained: UInt64(instances) * 64)
    digest.findings![digest.findings!.count - 1].finding.origins.samples = [.init(place: nil, instances: sampled)]
  }

  private mutating func add(
    _ kind: Finding.Unreachable, _ steps: [(Finding.Step, [String])], instances: Int, retained: UInt64
  ) {
    var finding = Finding(
      evidence: .unreachable(kind, way: nil), instances: instances, retainedBytes: ByteCount(retained),
      retainedBlocks: UInt64(instances * steps.count), path: steps.map(\.0))
    finding.fingerprint = FindingIdentity(finding).fingerprint
    digest.findings!.append(RunDigest.DigestedFinding(finding: finding, allocations: steps.map(\.1)))
  }
}

extension RunDigest {
  static func make(_ build: (inout DigestBuilder) -> Void) -> RunDigest {
    var builder = DigestBuilder()
    build(&builder)
    return builder.digest
  }
}

extension DiffSection where Change == AllocationChange {
  var summary: [String] {
    changes.map {
      "\($0.kind.rawValue) \($0.name) \($0.changes.map { "\($0.figure.rawValue)" }.joined(separator: ","))"
    }
  }
}

extension DiffSection where Change == FindingChange {
  var summary: [String] {
    changes.map { "\($0.kind.rawValue) \($0.finding.verdict.rawValue) \($0.finding.path[0].type)" }
  }
}
