// Keeps the damage that a malformed name does to a demangler away from the analysis.

import CDemangle
import Glibc

/// Demangles names in a child process.
///
/// Names come from files that may be damaged. The Swift runtime's demangler aborts on some malformed names, and takes
/// memory without end on others. A file with many such names has no useful ones: then all names stay mangled. Not to be
/// shared between threads.
final class DemanglerProcess {
  private let child = SandboxedChild { lt_demangler_start($0) }
  private var mayFork = true

  /// A name ended it. It starts again for the next name, a limited number of times.
  var hasDied: Bool { child.deaths > 0 }

  /// The demangled name; `nil` if `mangled` is not mangled, or could not be demangled.
  func demangle(_ mangled: String) -> String? {
    var mangled = mangled
    return mangled.withUTF8 { name in
      guard name.count > 0, name.count <= LT_DEMANGLER_NAME_LIMIT else { return nil }
      return mayFork ? ask(name) : demangleHere(name)
    }
  }

  private func ask(_ name: UnsafeBufferPointer<UInt8>) -> String? {
    do {
      return try child.ask(UnsafeRawBufferPointer(name)) { answer -> String?? in
        .some(answer.map { String(decoding: $0, as: UTF8.self) })
      }
    } catch .unstartable {
      // If no process may be started, names are worth more than caution.
      mayFork = false
      return demangleHere(name)
    } catch {
      return nil
    }
  }

  private func demangleHere(_ name: UnsafeBufferPointer<UInt8>) -> String? {
    let result = name.withMemoryRebound(to: CChar.self) { lt_demangle($0.baseAddress, $0.count) }
    guard let result else { return nil }
    defer { free(result) }
    return String(cString: result)
  }
}
