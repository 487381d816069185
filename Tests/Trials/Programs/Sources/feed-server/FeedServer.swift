// A news feed on FlyingFox, read by URLSession. With "leak", each reader leaves a task that waits for ever.
import FlyingFox
import Foundation
import FoundationNetworking

/// A delivery to a reader. The reader that receives it confirms it.
final class Delivery: Sendable {
  let item: Int
  init(item: Int) { self.item = item }

  /// `isForgetting`: the fault. The continuation is dropped.
  func confirm(isForgetting: Bool) async -> Int {
    await withUnsafeContinuation { continuation in
      if !isForgetting { continuation.resume(returning: item) }
    }
  }
}

@main struct FeedServer {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 2, ["leak", "clean"].contains(arguments[1]) else { fatalError("usage: feed-server leak|clean") }
    let isForgetting = arguments[1] == "leak"
    let server = HTTPServer(address: try .inet(ip4: "127.0.0.1", port: 0), logger: .disabled)
    await server.appendRoute("GET /items/*") { request in
      let delivery = Delivery(item: request.path.utf8.count)
      Task { _ = await delivery.confirm(isForgetting: isForgetting) }
      return HTTPResponse(statusCode: .ok, body: Data("item \(delivery.item)".utf8))
    }
    let serving = Task { try await server.run() }
    try await server.waitUntilListening()
    guard case .ip4(_, port: let port) = await server.listeningAddress else { fatalError("the server has no port") }
    var read = 0
    for number in 0..<60 {
      let (data, _) = try await URLSession.shared.data(from: URL(string: "http://127.0.0.1:\(port)/items/\(number)")!)
      read += data.count
    }
    await server.stop(timeout: 1)
    _ = await serving.result
    print("read \(read)")
  }
}
