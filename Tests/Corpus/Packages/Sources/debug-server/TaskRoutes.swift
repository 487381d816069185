import Hummingbird
import LeakTrace
import NIOCore
import NIOPosix

func addTaskRoutes(to router: Router<some RequestContext>) {
  func answer(_ type: String, _ make: @escaping @Sendable () -> [UInt8]?) async throws -> Response {
    // The call blocks its thread for some tenths of a second.
    guard let bytes = try await NIOThreadPool.singleton.runIfActive({ make() }) else {
      throw HTTPError(.notFound, message: "leaktrace is not installed, or may not inspect this process")
    }
    return Response(
      status: .ok, headers: [.contentType: type], body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
  }
  router.get("debug/tasks") { _, _ in try await answer("application/json", LeakTrace.taskList) }
  router.get("debug/pprof/tasks") { _, _ in try await answer("application/octet-stream", LeakTrace.taskProfile) }
  router.get("debug/pprof/taskleak") { _, _ in try await answer("application/octet-stream", LeakTrace.taskLeakProfile) }
}
