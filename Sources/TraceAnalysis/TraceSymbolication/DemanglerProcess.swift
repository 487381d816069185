// Keeps the damage that a malformed name does to a demangler away from the analysis.

import CDemangle
import Glibc

/// A child process that demangles names; started when the first name is asked for, and again when a name ended it.
///
/// Names come from files that may be damaged, and the Swift runtime's demangler aborts on some malformed names, and on
/// others takes memory without end. A question costs some ten microseconds. Not to be shared between threads.
final class DemanglerProcess {
  /// After as many names that ended the child, all others stand for themselves: such a file has no names worth having.
  private static let deathLimit = 64

  private var child = lt_demangler_process()
  private var deaths = 0
  private var mayFork = true

  deinit { lt_demangler_stop(&child) }

  /// The demangled name; `nil` if `mangled` is not mangled, or could not be demangled.
  func demangle(_ mangled: String) -> String? {
    guard deaths < Self.deathLimit else { return nil }
    var mangled = mangled
    let result = mangled.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { ask($0) }
    }
    guard let result else { return nil }
    defer { free(result) }
    return String(cString: result)
  }

  private func ask(_ name: UnsafeBufferPointer<CChar>) -> UnsafeMutablePointer<CChar>? {
    guard let start = name.baseAddress, name.count > 0 else { return nil }
    // If no process may be started, names are worth more than caution.
    if child.process == 0, mayFork, lt_demangler_start(&child) != 0 { mayFork = false }
    guard mayFork else { return lt_demangle(start, name.count) }
    var result: UnsafeMutablePointer<CChar>?
    if lt_demangler_ask(&child, start, name.count, &result) != 0 { deaths += 1 }
    return result
  }
}
