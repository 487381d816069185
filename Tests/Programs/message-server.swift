// Tasks that wait for messages: most of them are subscribed, and two have lost their continuation. Prints `ready` and
// waits.

import Glibc

actor Inbox {
  private var waiters: [CheckedContinuation<String, Never>] = []
  var count: Int { waiters.count }

  func next() async -> String {
    await withCheckedContinuation { waiters.append($0) }
  }
}

let inbox = Inbox()

func serve(_ client: Int) async {
  let message = await inbox.next()
  print(client, message)
}

func handshake() async {
  let answer = await withUnsafeContinuation { (_: UnsafeContinuation<String, Never>) in }
  print(answer)
}

@main struct Server {
  static func main() async {
    for client in 0..<5 { Task.detached { await serve(client) } }
    for _ in 0..<2 { Task.detached { await handshake() } }
    while await inbox.count < 5 { usleep(1_000) }
    usleep(300_000)
    print("ready \(getpid())")
    fflush(stdout)
    try? await Task.sleep(nanoseconds: 120_000_000_000)
  }
}
