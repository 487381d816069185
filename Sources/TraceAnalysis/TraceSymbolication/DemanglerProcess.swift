// Protects the analysis from demanglers that crash on malformed names.

import CDemangle
import Glibc

/// Demangles names in a child process.
///
/// Names come from files that may be damaged. The Swift runtime's demangler aborts on some malformed names, and
/// allocates memory without limit for others. After several crashes, all names stay mangled: a file with so many
/// malformed names has no useful names. For one thread at a time.
final class DemanglerProcess {
  private let child = SandboxedChild { lt_demangler_start($0) }
  private var mayFork = true

  /// True if a name has crashed the child process. A new child starts for the next name, a limited number of times.
  var hasDied: Bool { child.deaths > 0 }

  /// Returns the demangled name; `nil` if `mangled` is not mangled, or could not be demangled.
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
      // If no child process can be started, demangle in this process. The names are worth the risk of a crash.
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
