// Debug files from the servers that DEBUGINFOD_URLS names.

import Glibc
import TraceReading

/// Asks debuginfod servers for files by build ID, with elfutils' client library.
///
/// Nothing is asked unless the variable DEBUGINFOD_URLS is set and libdebuginfod.so.1 is installed. The library keeps
/// fetched files in its cache. A question waits for the network: up to 90 seconds for a server that does not answer
/// (elfutils 0.188, DEBUGINFOD_TIMEOUT). For one thread at a time.
package final class DebugFileServers {
  private typealias Begin = @convention(c) () -> OpaquePointer?
  private typealias End = @convention(c) (OpaquePointer?) -> Void
  private typealias Find =
    @convention(c) (
      OpaquePointer?, UnsafePointer<UInt8>?, Int32, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    ) -> Int32

  /// The kinds of files that servers have for a build ID.
  package enum Kind: String, Sendable {
    case debugInformation = "debuginfod_find_debuginfo"
    case program = "debuginfod_find_executable"
  }

  private let library: UnsafeMutableRawPointer
  private let client: OpaquePointer
  private let end: End

  /// Nil if no servers are named, or there is no library to ask them with.
  init?() {
    guard let servers = getenv("DEBUGINFOD_URLS"), servers.pointee != 0,
      let library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL)
    else { return nil }
    guard let begin = dlsym(library, "debuginfod_begin"), let end = dlsym(library, "debuginfod_end"),
      let client = unsafeBitCast(begin, to: Begin.self)()
    else { return nil }
    (self.library, self.client) = (library, client)
    self.end = unsafeBitCast(end, to: End.self)
  }

  deinit { end(client) }

  /// The path of a fetched file of an image; nil if no server has it. System libraries are not fetched: reports have
  /// little use of their names. `image`: the path of the image.
  package static func fetchedPath(of kind: Kind, image: String, buildID: [UInt8]) -> String? {
    guard !SystemCode.isSystemImage(image), !SystemCode.isOfOperatingSystem(image) else { return nil }
    return DebugFileServers()?.path(of: kind, buildID: buildID)
  }

  /// The path of a fetched file; nil if no server has it.
  private func path(of kind: Kind, buildID: [UInt8]) -> String? {
    guard !buildID.isEmpty, let function = dlsym(library, kind.rawValue) else { return nil }
    var path: UnsafeMutablePointer<CChar>?
    let descriptor = unsafeBitCast(function, to: Find.self)(client, buildID, Int32(buildID.count), &path)
    defer { free(path) }
    guard descriptor >= 0 else { return nil }
    close(descriptor)
    return path.map { String(cString: $0) }
  }
}
