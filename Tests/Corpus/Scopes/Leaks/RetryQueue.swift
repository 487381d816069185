// An actor keeps the requests that are under way, and does not take those out that failed.

final class OutgoingRequest: Sendable {
  let id: Int
  let body: String

  init(id: Int) {
    self.id = id
    body = "payload of outgoing request \(id)"
  }

  var fails: Bool { id % 20 == 19 }
}

struct DeliveryFailed: Error {}

actor RetryQueue {
  static let shared = RetryQueue()
  private var pending: [Int: OutgoingRequest] = [:]

  /// `forgetting`: the fault. A failed request stays pending, for a retry that never happens.
  func deliver(_ request: OutgoingRequest, forgetting: Bool) async throws {
    pending[request.id] = request
    do {
      try await transmit(request)
    } catch {
      if !forgetting { pending[request.id] = nil }
      throw error
    }
    pending[request.id] = nil
  }

  private func transmit(_ request: OutgoingRequest) async throws {
    await Task.yield()
    if request.fails { throw DeliveryFailed() }
    note(request.body.count)
  }
}

enum RetryQueueProgram: AsyncFaultyProgram {
  static func faulty() async { for id in 0..<500 { await request(id, forgetting: true) } }
  static func correct() async { for id in 0..<500 { await request(id, forgetting: false) } }

  @inline(never) private static func request(_ id: Int, forgetting: Bool) async {
    do { try await RetryQueue.shared.deliver(OutgoingRequest(id: id), forgetting: forgetting) } catch { note(id) }
  }
}
