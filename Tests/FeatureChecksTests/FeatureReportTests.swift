import Foundation
import Glibc
import ProcessAttachment
import ProcessInspection
import Testing
import TextWriting
import TraceReading
import TraceRecording

@testable import FeatureChecks

/// The output of `leaktrace doctor`.
@Suite struct FeatureReportTests {
  private func report(_ facts: CheckedFacts, _ features: [Feature] = Feature.allCases) -> FeatureReport {
    FeatureReport(facts, FeatureJudgement(facts).verdicts(for: features))
  }

  private var container: CheckedFacts {
    Described.refused(errno: EPERM) {
      $0.machine.container = .kubernetes
      $0.machine.userID = 0
      $0.machine.groupID = 0
      $0.machine.filter = .filter
      $0.machine.namesDebuginfod = true
      $0.target?.ownNumber = 1
      $0.installation.output.writeError = EROFS
    }
  }

  @Test("Text has a line per feature, and a line that says how to enable it") func text() {
    #expect(
      report(container, [.record, .inspect, .coreFiles]).text(style: TextStyle(width: 80)) == """
        Linux 6.1.0, x86_64, glibc 2.36, as root, in a container of Kubernetes, with a
          filter of system calls (seccomp)
        process 4711: /srv/bin/feed-server, user 1000, process 1 in its container, Swift
          6.2 or later, glibc 2.36, glibc's allocator

        record        does not work: no file can be written to /srv: Read-only file
                      system
                      enable it: mount an emptyDir volume, and name it: leaktrace record
                        -o /traces/ -- PROGRAM
        inspect       does not work: root lacks the capability CAP_SYS_PTRACE here, as
                      in most containers
                      enable it: kubectl debug -it POD --image=IMAGE --target=CONTAINER
                        --profile=general
        core files    works

        note: leaktrace does not ask the servers of DEBUGINFOD_URLS. Fetch a file with
          'debuginfod-find debuginfo PROGRAM', and put it into a directory for
          --debug-path

        """)
  }

  @Test("No line exceeds the requested width", arguments: [60, 80, 120]) func widths(_ width: Int) {
    var all = [Described.facts(), Described.process(), container]
    for obstacle in Self.tracingObstacles {
      all.append(Described.refused(errno: EPERM) { obstacle(&$0) })
    }
    for facts in all {
      let text = report(facts).text(style: TextStyle(width: width))
      for line in text.split(separator: "\n") { #expect(line.count <= width, "\(line)") }
      #expect(text.split(separator: "\n").count { !$0.hasPrefix(" ") } >= Feature.allCases.count + 1)
    }
  }

  private static let tracingObstacles: [@Sendable (inout CheckedFacts) -> Void] = [
    { $0.machine.ptraceScope = 1 }, { $0.machine.ptraceScope = 3 }, { $0.target?.userIDs = [0, 0, 0] },
    { $0.target?.isDumpable = false }, { $0.target?.capabilities = .tracing }, { $0.target?.isHidden = true },
    { $0.machine.filter = .filter }, { $0.target?.userNamespace = .other },
  ]

  @Test("Every obstacle and remedy has a text without a full stop") func words() {
    let facts = Described.process()
    let obstacles: [Obstacle] = [
      .otherProcessor("aarch64"), .cLibrary(27), .cLibrary(nil), .recorderMissing(searched: ["/a"]),
      .recorderUnusable(path: "/a", reason: "it is damaged"), .directory(path: "/proc/4711/root/tmp", errno: EROFS),
      .directoryForbidsCode(path: "/tmp"), .mirrorMissing(searched: []), .mirrorUnusable(path: "/a", reason: "no"),
      .filtered, .unreadableFilter, .trial(.late(seconds: 3)), .trial(.noProgram), .noImage, .allocatorInside,
      .sanitizer("app"), .noSwift, .recordsAlready(tracePath: "/t"), .coresOff, .coreFilter(2), .coreOfUndumpable,
      .fileUnreadable(path: "/a", errno: nil), .unsuitable(.kernelThread), .notJoinable(.shadowStack),
      .notStartable(.untraceable(path: "/a", .otherLoader("/lib/ld-musl-x86_64.so.1"))),
    ]
    for obstacle in obstacles {
      let text = ObstacleWords(facts).text(obstacle)
      #expect(!text.isEmpty && !text.hasSuffix("."), "\(text)")
      for feature in Feature.allCases {
        guard let remedy = RemedyJudgement(facts).remedy(for: obstacle, feature) else { continue }
        let words = RemedyWords(facts).text(remedy, feature)
        #expect(!words.isEmpty && !words.hasSuffix("."), "\(words)")
      }
    }
    #expect(
      ObstacleWords(facts).text(.directory(path: "/proc/4711/root/tmp", errno: EROFS)).contains(
        "to /tmp of the process"))
  }

  @Test("Names of files cannot write to the terminal") func control() {
    let facts = Described.process { $0.target?.program = "/srv/\u{1B}[31mapp" }
    #expect(!report(facts).text(style: TextStyle()).contains("\u{1B}"))
  }

  @Test("The JSON has a status, an explanation and a remedy per feature") func json() throws {
    let text = report(container).json()
    let document = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    #expect(document["schema"] as? String == "leaktrace.features" && document["allWork"] as? Bool == false)
    let features = try #require(document["features"] as? [[String: Any]])
    #expect(features.compactMap { $0["feature"] as? String } == Feature.allCases.map(\.rawValue))
    let record = features[0]
    #expect(record["standing"] as? String == "fails")
    #expect((record["remedy"] as? String)?.contains("emptyDir") == true)
    #expect((record["explanation"] as? String)?.contains("Read-only file system") == true)
    let works = try #require(features.first { $0["feature"] as? String == "core-files" })
    #expect(works["standing"] as? String == "works" && works["remedy"] is NSNull)
    let process = try #require(document["process"] as? [String: Any])
    #expect(process["processID"] as? Int == 4711 && process["ownNumber"] as? Int == 1)
    let here = try #require(
      try JSONSerialization.jsonObject(with: Data(report(Described.facts()).json().utf8)) as? [String: Any])
    #expect(here["allWork"] as? Bool == true && here["process"] is NSNull)
  }
}
