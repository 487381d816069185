// Fetches debug files from the servers in DEBUGINFOD_URLS.

import Glibc
import TraceReading

/// Fetches files by build ID from debuginfod servers, with elfutils' client library.
///
/// Contacts a server only if the variable DEBUGINFOD_URLS is set and libdebuginfod.so.1 is installed. The library keeps
/// fetched files in its cache. A request waits for the network, up to 90 seconds if a server does not answer (elfutils
/// 0.188, DEBUGINFOD_TIMEOUT). For one thread at a time.
package final class DebugFileServers {
  private typealias Begin = @convention(c) () -> OpaquePointer?
  private typealias End = @convention(c) (OpaquePointer?) -> Void
  private typealias Find =
    @convention(c) (
      OpaquePointer?, UnsafePointer<UInt8>?, Int32, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    ) -> Int32

  /// The kinds of files that servers have for a build ID. The raw value is the name of the library's function.
  package enum Kind: String, Sendable {
    case debugInformation = "debuginfod_find_debuginfo"
    case program = "debuginfod_find_executable"
  }

  private let library: UnsafeMutableRawPointer
  private let client: OpaquePointer
  private let end: End

  /// Nil if DEBUGINFOD_URLS has no servers, or the library is not installed.
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

  /// Fetches a file of a loaded image and returns the file's local path; nil if no server has the file. Files of system
  /// libraries are not fetched, since reports rarely need their names. `image`: the path of the loaded image.
  package static func fetchedPath(of kind: Kind, image: String, buildID: [UInt8]) -> String? {
    guard !SystemCode.isSystemImage(image), !SystemCode.isOfOperatingSystem(image) else { return nil }
    return DebugFileServers()?.path(of: kind, buildID: buildID)
  }

  /// Fetches a file and returns its local path; nil if no server has it.
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
