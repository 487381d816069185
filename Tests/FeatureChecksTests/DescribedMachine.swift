// Machines and processes that tests describe. They need not resemble this machine.

import ProcessAttachment
import ProcessInspection
import TraceRecording

@testable import FeatureChecks

enum Described {
  /// Returns the facts about a machine with an ordinary user. All attempts succeed.
  static func facts(_ change: (inout CheckedFacts) -> Void = { _ in }) -> CheckedFacts {
    var facts = CheckedFacts()
    facts.machine.userID = 1000
    facts.machine.groupID = 1000
    facts.machine.kernel = "6.1.0"
    facts.machine.cLibrary = 36
    facts.machine.cores.sizeLimit = nil
    facts.installation.recorder = .done("/opt/leaktrace/lib/libleaktrace.so")
    facts.installation.mirror = .done("/opt/swift/lib/libswiftRemoteMirror.so")
    facts.installation.output = DirectoryFacts(path: "/srv")
    facts.installation.output.freeBytes = 8 << 30
    facts.trials.record = .done(RecordedTrial(program: "/bin/true", events: 285, hasImage: true))
    facts.trials.light = .done(RecordedTrial(program: "/bin/true", events: 147, hasImage: true))
    facts.trials.snapshot = .done(1)
    facts.trials.inspect = .done(800_000)
    facts.trials.attach = .done(3_600_000)
    change(&facts)
    return facts
  }

  /// Returns the facts about a Swift server of the same user. All of them could be read.
  static func process(_ change: (inout CheckedFacts) -> Void = { _ in }) -> CheckedFacts {
    facts { facts in
      var target = TargetFacts(processID: 4711)
      target.program = "/srv/bin/feed-server"
      target.userIDs = [1000, 1000, 1000]
      target.groupIDs = [1000, 1000, 1000]
      target.checkingUser = 1000
      target.userNamespace = .same
      target.sharesFiles = true
      target.hasSwift = true
      target.swiftVersion = .v6_2OrLater
      target.cLibrary = 36
      target.allocator = .glibc
      target.checkedFiles = 1
      target.coreFilter = 0x33
      facts.target = target
      facts.trials.snapshot = .notTried
      facts.trials.inspect = .notTried
      facts.trials.attach = .notTried
      facts.trials.seize = .done(true)
      facts.trials.read = .done(64)
      change(&facts)
    }
  }

  /// Returns the facts about the same server if the kernel does not let this process trace it.
  static func refused(errno: Int32, _ change: (inout CheckedFacts) -> Void) -> CheckedFacts {
    process { facts in
      facts.trials.seize = .failed(.system(errno: errno))
      facts.trials.read = .failed(.system(errno: errno))
      change(&facts)
    }
  }
}
