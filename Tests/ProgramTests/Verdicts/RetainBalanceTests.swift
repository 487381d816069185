// The sums of retains and releases equal the counts in memory, and show which reference is retained once too often.

import Foundation
import TestRequirements
import Testing
import TraceReading

@Suite(.serialized, .requires(.recorder)) struct RetainBalanceTests {
  /// Types of objects that the corpus reads through weak or unowned references, and that live on. If the runtime is
  /// linked into the program, weak loads and unowned upgrades are not recorded, but the releases after them are.
  private static let loadedUnseen: Set<String> = [
    "corpus.Chapter", "corpus.PluginHost", "corpus.Avatar", "corpus.UploadScreen", "corpus.Thumbnail",
    "corpus.ThumbnailProvider", "corpus.ChatRoom", "corpus.Panel",
    "FoundationEssentials.FileManager", "Foundation.RunLoop",
  ]
  /// Types of objects that are in `deinit` when the process ends. The runtime has then already given up the unowned
  /// reference that each object has to itself.
  private static let ending: Set<String> = ["corpus.ClosingArchives.Archive", "corpus.EndingActors.Coordinator"]

  /// CoreFoundation sets up the headers of its objects itself, so the image has no count of these objects.
  private static let uncounted: Set<String> = ["Foundation.__NSCFType"]

  @Test(
    "The retain balance of every live object is its reference count in the heap image",
    arguments: CorpusVariant.tested)
  func balances(variant: CorpusVariant) throws {
    var equal = 0
    var differing: Set<String> = []
    for run in try CorpusRun.all(variant) {
      guard case .success(let counts) = run.counts else {
        Issue.record("\(run.name): \(run.counts)")
        continue
      }
      equal += counts.equal
      #expect(counts.uncounted.isSubset(of: Self.uncounted), "\(run.name): \(counts.uncounted)")
      for difference in counts.differences {
        differing.insert(difference.type)
        #expect(variant.isStatic && Self.loadedUnseen.contains(difference.type), "\(run.name): \(difference)")
        #expect(
          difference.gaps.contains("staticRuntime") && difference.gaps.contains("different"),
          "\(run.name): \(difference)")
      }
      // In static programs, the runtime also counts unowned references by internal calls, which the recorder does not
      // see.
      if !variant.isStatic {
        #expect(
          counts.unownedDifferences.allSatisfy { Self.ending.contains($0) }, "\(run.name): \(counts.unownedDifferences)"
        )
      }
    }
    #expect(equal > (variant == .earlierRuntime ? 1500 : 3000) / variant.stride)
    // An exception that is no longer needed must be removed.
    if variant.isStatic, variant.stride == 1 { #expect(differing == Self.loadedUnseen) }
  }

  private func history(of name: String, _ variant: CorpusVariant, _ subject: String, _ options: String...) throws
    -> Command.Outcome
  {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/history.trace"
    let recording = try Command([
      BuildProducts.leaktrace, "record", "--quiet", "-o", path, "--", try CorpusProgram.corpus.path(variant), name,
      "leak",
    ]).run()
    #expect(recording.end == .exit(0))
    return try Command([BuildProducts.leaktrace, "history", path, subject] + options).run()
  }

  @Test(
    "The unbalanced retain is named with its file and line",
    arguments: [
      ("over-retained", "PreviewImage", "OverRetained.swift:21", 7),
      ("pass-retained", "AudioBuffer", "PassRetained.swift:13", 5),
    ], [CorpusVariant.dynamicUnoptimised, .dynamicOptimised])
  func unbalanced(program: (name: String, type: String, place: String, objects: Int), variant: CorpusVariant) throws {
    for width in ["60", "120"] {
      let outcome = try history(of: program.name, variant, program.type, "--width", width)
      #expect(outcome.end == .exit(0))
      let lines = outcome.output.split(separator: "\n", omittingEmptySubsequences: false)
      #expect(lines.allSatisfy { $0.count <= Int(width)! })
      let words = lines.joined(separator: " ").split(separator: " ").joined(separator: " ")
      #expect(words.contains("\(program.type): \(program.objects) objects live at exit"))
      #expect(words.contains("\(program.objects) references never released"))
      #expect(words.contains("the balance of each is its count in memory"))
      let open = lines.drop { $0 != "Never released" }.dropFirst().prefix { !$0.isEmpty }.joined(separator: "\n")
      #expect(open.contains(program.place), "\(outcome.output)")
      #expect(open.components(separatedBy: "in each object").count == 2, "one place alone\n\(outcome.output)")
      #expect(!outcome.output.contains("incomplete"))
    }
  }

  @Test("One object's history is printed event by event, and as JSON") func oneObject() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/history.trace"
    let executable = try CorpusProgram.corpus.path(.dynamicUnoptimised)
    _ = try Command([
      BuildProducts.leaktrace, "record", "--quiet", "-o", path, "--", executable, "over-retained", "leak",
    ]).run()
    func leaktrace(_ arguments: String...) throws -> Command.Outcome {
      try Command([BuildProducts.leaktrace, "history", path] + arguments).run()
    }
    func object(_ text: String) throws -> [String: Any] {
      try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }
    let group = try object(try leaktrace("PreviewImage", "--format", "json").output)
    #expect(
      group["objects"] as? Int == 7 && group["equalCounts"] as? Int == 7 && group["isIncomplete"] as? Bool == false)
    let address = try #require(group["example"] as? String)
    let one = try object(try leaktrace(address, "--format", "json").output)
    let history = try #require(one["object"] as? [String: Any])
    let events = try #require(history["events"] as? [[String: Any]])
    #expect(history["strongCount"] as? Int == 1)
    #expect(events.last?["strong"] as? Int == 1)
    #expect(events.filter { $0["unpaired"] as? Int != 0 }.map { $0["line"] as? Int } == [21])
    let text = try leaktrace(address, "--limit", "1", "--width", "120").output
    #expect(text.contains("never released") && text.contains("left out") && text.contains("the count in memory is 1"))
    #expect(try leaktrace("NoSuchType").end == .exit(2))
    #expect(try leaktrace("0xZZ").end == .exit(64))
    #expect(try leaktrace("PreviewImage", "--snapshot", "7").end == .exit(3))
  }

  @Test("A trace without stacks or retains reports that") func lesserModes() throws {
    let directory = try TemporaryDirectory()
    let executable = try CorpusProgram.corpus.path(.dynamicOptimised)
    for mode in ["counts", "off"] {
      let path = "\(directory.path)/\(mode).trace"
      _ = try Command([
        BuildProducts.leaktrace, "record", "--quiet", "--arc", mode, "-o", path, "--", executable, "over-retained",
        "leak",
      ]).run()
      let outcome = try Command([BuildProducts.leaktrace, "history", path, "PreviewImage", "--width", "200"]).run()
      #expect(outcome.end == .exit(mode == "off" ? 3 : 0))
      #expect((mode == "off" ? outcome.errorOutput : outcome.output).contains("--arc \(mode)"))
    }
  }
}
