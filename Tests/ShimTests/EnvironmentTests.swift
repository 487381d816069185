// The variables that the recorder sets for its process's children, and removes from its own environment.

import CTraceShim
import Foundation
import Testing

/// An environment in memory in the layout of C.
private final class Block {
  let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  private let owned: [UnsafeMutablePointer<CChar>]

  init(_ entries: [String]) {
    owned = entries.map { strdup($0)! }
    pointers = .allocate(capacity: entries.count + 1)
    for (i, entry) in owned.enumerated() { pointers[i] = entry }
    pointers[entries.count] = nil
  }
  deinit {
    owned.forEach { free($0) }
    pointers.deallocate()
  }

  var entries: [String] { withExtendedLifetime(self) { Block.entries(pointers) } }

  static func entries(_ pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> [String] {
    var result: [String] = []
    while let entry = pointers[result.count] { result.append(String(cString: entry)) }
    return result
  }

  /// Makes the recorder read its settings from this environment.
  func read() { withExtendedLifetime(self) { lt_environment_read(pointers) } }

  /// Returns the environment that a child gets if it is started with this environment.
  func forChild(isTraced: Bool, finished: String? = nil) -> [String] {
    let made = lt_environment_for_child(pointers, isTraced, finished)!
    defer { lt_environment_free(made, pointers) }
    return Block.entries(made)
  }
}

/// The settings belong to the whole process, so these tests run one at a time.
@Suite(.serialized) struct EnvironmentTests {
  private let following = [
    "PATH=/bin", "LD_PRELOAD=/opt/other.so:/lib/leak/libleaktrace.so /x.so", "LEAKTRACE_OUTPUT=/tmp/%n.%p.trace",
    "LEAKTRACE_SESSION=ab12",
    "LEAKTRACE_DEPTH=500", "LEAKTRACE_ARC=counts", "LEAKTRACE_FOLLOW=1", "LEAKTRACE_QUIET=1", "HOME=/root",
  ]

  @Test("A followed child gets the same settings and its own variables") func followed() {
    let own = Block(following)
    own.read()
    #expect(own.entries == following)
    let child = Block(["A=1", "LD_PRELOAD=/mine.so", "LEAKTRACE_DEPTH=7", "B="]).forChild(
      isTraced: true, finished: "/tmp/done.trace")
    #expect(
      child.filter { !$0.hasPrefix("LEAKTRACE_") } == ["A=1", "B=", "LD_PRELOAD=/lib/leak/libleaktrace.so:/mine.so"])
    #expect(
      Set(child.filter { $0.hasPrefix("LEAKTRACE_") }) == [
        "LEAKTRACE_OUTPUT=/tmp/%n.%p.trace", "LEAKTRACE_SESSION=ab12", "LEAKTRACE_DEPTH=500", "LEAKTRACE_ARC=counts",
        "LEAKTRACE_FOLLOW=1",
        "LEAKTRACE_QUIET=1", "LEAKTRACE_FINISHED=/tmp/done.trace",
      ])
  }

  @Test("An untraced child sees no variable of the recorder") func untraced() {
    Block(following).read()
    #expect(
      Block(following).forChild(isTraced: false) == ["PATH=/bin", "HOME=/root", "LD_PRELOAD=/opt/other.so:/x.so"])
    #expect(Block(["LD_PRELOAD=/lib/leak/libleaktrace.so", "A=1"]).forChild(isTraced: false) == ["A=1"])
    #expect(Block(["A=1"]).forChild(isTraced: false) == ["A=1"])
    #expect(Block([]).forChild(isTraced: false) == [])
  }

  @Test("A library with a similar name is kept") func similarNames() {
    Block(following).read()
    let preload = "LD_PRELOAD=/a/notlibleaktrace.so:/a/libleaktrace.so.1"
    #expect(Block([preload]).forChild(isTraced: false) == [preload])
  }

  @Test("A process without followed children sees no variable of the recorder") func cleaned() {
    let entries = following.filter { $0 != "LEAKTRACE_FOLLOW=1" }
    let own = Block(entries)
    own.read()
    #expect(own.entries == ["PATH=/bin", "LD_PRELOAD=/opt/other.so:/x.so", "HOME=/root"])
    let alone = Block(["LD_PRELOAD=/lib/leak/libleaktrace.so", "LEAKTRACE_OUTPUT=/t"])
    alone.read()
    #expect(alone.entries == [])
  }
}
