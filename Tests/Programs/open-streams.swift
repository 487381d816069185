// A server whose streams hold themselves. At SIGTERM it waits until all streams are closed, which never happens.
// Usage: open-streams READY-FILE, which it makes when the streams are open.

import Dispatch
import Foundation

let openStreams = DispatchGroup()

final class EventStream {
  private var onEvent: (() -> Void)?
  private var count = 0

  init() { openStreams.enter() }
  deinit { openStreams.leave() }

  func listen() { onEvent = { self.count += 1 } }
}

@inline(never) func serve(_ requests: Int) {
  for _ in 0..<requests { EventStream().listen() }
}

@main struct OpenStreams {
  static func main() {
    signal(SIGTERM, SIG_IGN)
    let termination = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())
    termination.setEventHandler {
      openStreams.wait()
      exit(0)
    }
    termination.resume()
    serve(20)
    close(creat(CommandLine.arguments[1], 0o600))
    while true { sleep(100) }
  }
}
