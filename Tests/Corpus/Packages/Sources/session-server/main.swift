// An HTTP server with a session for each connection. With "leak" it forgets to end them, with "clean" it ends them. It
// exits on SIGTERM, by returning from here. It uses the process's shared event loops, and does not shut them down.
import Dispatch
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

let arguments = CommandLine.arguments
guard arguments.count == 2, ["leak", "clean"].contains(arguments[1]) else {
  FileHandle.standardError.write(Data("usage: session-server leak|clean\n".utf8))
  exit(64)
}
let forgetsClosed = arguments[1] == "leak"

let server = try ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
  .serverChannelOption(.backlog, value: 256)
  .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
  .childChannelInitializer { channel in
    channel.pipeline.configureHTTPServerPipeline().flatMapThrowing {
      try channel.pipeline.syncOperations.addHandler(SessionHandler(forgetsClosed: forgetsClosed))
    }
  }
  .bind(host: "127.0.0.1", port: 0).wait()

signal(SIGTERM, SIG_IGN)
let termination = DispatchSource.makeSignalSource(signal: SIGTERM)
termination.setEventHandler { server.close(promise: nil) }
termination.resume()

print("port \(server.localAddress?.port ?? 0)")
fflush(stdout)
try server.closeFuture.wait()
