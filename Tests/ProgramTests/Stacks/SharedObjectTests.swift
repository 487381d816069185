// The preloaded library itself: the libraries that it needs, how it is bound, and the symbols that it exports.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder)) struct SharedObjectTests {
  /// Returns the lines of readelf's output, split into fields.
  private func readelf(_ option: String) throws -> [[Substring]] {
    let outcome = try Command(["readelf", "--wide", option, BuildProducts.preloadLibrary]).run()
    guard outcome.end == .exit(0) else { throw CommandFailure("readelf: \(outcome.end) \(outcome.errorOutput)") }
    return outcome.output.split(separator: "\n").map { $0.split(separator: " ") }
  }

  /// Returns the values of a tag in the dynamic section.
  private func dynamicEntries(_ tag: String) throws -> [String] {
    try readelf("--dynamic").filter { $0.count > 2 && $0[1] == "(\(tag))" }.map { $0[2...].joined(separator: " ") }
  }

  /// Returns the fields of each symbol: number, value, size, kind, binding, visibility, section, name.
  private func dynamicSymbols() throws -> [[Substring]] {
    try readelf("--dyn-syms").filter { $0.count >= 8 && ($0[4] == "GLOBAL" || $0[4] == "WEAK") }
  }

  @Test("The library needs only the C library, and has no search path") func needs() throws {
    #expect(try dynamicEntries("NEEDED") == ["Shared library: [libc.so.6]"])
    #expect(try dynamicEntries("RUNPATH") == [])
    #expect(try dynamicEntries("RPATH") == [])
  }

  @Test("The library is bound at load time, initialized first, and its code is never written") func binding()
    throws
  {
    let flags = try dynamicEntries("FLAGS")[0].split(separator: " "),
      more = try dynamicEntries("FLAGS_1")[0].split(separator: " ")
    #expect(flags.contains("BIND_NOW") && !flags.contains("TEXTREL"))
    #expect(more.contains("NOW") && more.contains("INITFIRST"))
    #expect(try dynamicEntries("TEXTREL") == [])
    #expect(try readelf("--segments").contains { $0.first == "GNU_RELRO" })
    for segment in try readelf("--segments") where ["LOAD", "GNU_STACK"].contains(segment.first) {
      let permissions = segment[6..<(segment.count - 1)].joined()
      #expect(!(permissions.contains("W") && permissions.contains("E")), "\(segment)")
    }
  }

  @Test("The library's thread-local storage is static and small") func threadLocalStorage() throws {
    #expect(try dynamicEntries("FLAGS")[0].contains("STATIC_TLS"))
    let segment = try #require(try readelf("--segments").first { $0.first == "TLS" })
    let size = try #require(UInt64(segment[5].dropFirst(2), radix: 16))
    #expect(size <= 64)
    // An access to thread-local storage through __tls_get_addr could allocate memory.
    #expect(try !dynamicSymbols().contains { $0[7].hasPrefix("__tls_get_addr") })
  }

  @Test("The library exports exactly its export list") func exports() throws {
    let map = try String(contentsOfFile: BuildProducts.packageRoot + "/Sources/CTraceShim/exports.map", encoding: .utf8)
    let global = try #require(map.range(of: "global:")), local = try #require(map.range(of: "local:"))
    let listed = map[global.upperBound..<local.lowerBound].split { $0.isWhitespace || $0 == ";" }.map(String.init)
    let exported = try dynamicSymbols().filter { $0[6] != "UND" && $0[6] != "ABS" }.map {
      String($0[7].split(separator: "@")[0])
    }
    #expect(exported.sorted() == listed.sorted())
  }

  @Test("The library needs only symbols of glibc 2.35 and earlier") func versions() throws {
    for symbol in try dynamicSymbols() where symbol[6] == "UND" {
      let parts = symbol[7].split(separator: "@")
      if parts.count == 1 {
        #expect(symbol[4] == "WEAK", "\(symbol)")
        continue
      }
      let version = parts[1].replacing("GLIBC_", with: "").split(separator: ".").compactMap { Int($0) }
      #expect(parts[1].hasPrefix("GLIBC_") && version.count >= 2 && version[0] == 2 && version[1] <= 35, "\(symbol)")
    }
  }
}
