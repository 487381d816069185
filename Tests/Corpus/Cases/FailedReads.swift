// Foundation loses the buffer for a file's contents when reading fails half-way (pull request 1394 of swift-foundation).
import Foundation

enum FailedReads: FaultyProgram {
  /// Can be opened, but not read from its beginning.
  static func faulty() { for _ in 0..<6 { read("/proc/self/mem") } }
  static func correct() { for _ in 0..<6 { read("/proc/self/status") } }

  @inline(never) private static func read(_ path: String) {
    do { note(try Data(contentsOf: URL(fileURLWithPath: path)).count) } catch { note(1) }
  }
}
