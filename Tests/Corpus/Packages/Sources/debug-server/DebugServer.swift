// A server with tasks that wait, and with routes that hand them out. Counts the requests that begin and end while
// such a route works. Ends on SIGTERM.

import Foundation
import Hummingbird
import Synchronization

/// Requests, and those that began and ended while a debug route worked.
final class RequestCounts: Sendable {
  private let debugRoutes = Atomic<Int>(0)
  private let meanwhile = Atomic<Int>(0)

  var text: String { "\(meanwhile.load(ordering: .sequentiallyConsistent))" }

  func count(isDebugRoute: Bool, _ body: () async throws -> Response) async rethrows -> Response {
    if isDebugRoute {
      debugRoutes.add(1, ordering: .sequentiallyConsistent)
      defer { debugRoutes.subtract(1, ordering: .sequentiallyConsistent) }
      return try await body()
    }
    let isMeanwhile = debugRoutes.load(ordering: .sequentiallyConsistent) > 0
    let response = try await body()
    if isMeanwhile, debugRoutes.load(ordering: .sequentiallyConsistent) > 0 {
      meanwhile.add(1, ordering: .sequentiallyConsistent)
    }
    return response
  }
}

struct CountingMiddleware<Context: RequestContext>: RouterMiddleware {
  let counts: RequestCounts

  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    try await counts.count(isDebugRoute: request.uri.path.hasPrefix("/debug")) { try await next(request, context) }
  }
}

/// Orders that wait for their delivery.
final class Deliveries: Sendable {
  private let waiting = Mutex<[CheckedContinuation<Void, Never>]>([])

  func arrival() async {
    await withCheckedContinuation { continuation in waiting.withLock { $0.append(continuation) } }
  }

  var count: Int { waiting.withLock { $0.count } }
}

let deliveries = Deliveries()
let lost = Atomic<Int>(0)

@inline(never) func waitForLostDelivery() async {
  await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in lost.add(1, ordering: .sequentiallyConsistent) }
}

@main struct DebugServer {
  static func main() async throws {
    for _ in 0..<40 { Task { await deliveries.arrival() } }
    for _ in 0..<6 { Task { await waitForLostDelivery() } }
    while deliveries.count < 40 || lost.load(ordering: .sequentiallyConsistent) < 6 { try await Task.sleep(for: .milliseconds(5)) }
    let counts = RequestCounts()
    let router = Router()
    router.add(middleware: CountingMiddleware(counts: counts))
    router.get("counts") { _, _ in counts.text }
    router.get("products/:id") { _, context in "product \(try context.parameters.require("id"))" }
    router.post("orders") { _, _ in "ordered" }
    addTaskRoutes(to: router)
    let application = Application(
      router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
      onServerRunning: { channel in
        print("port \(channel.localAddress?.port ?? 0)")
        fflush(stdout)
      })
    try await application.runService()
  }
}
