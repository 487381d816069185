// Three orders are packed by four workers each, which wait for goods. Waits until it is killed.

import Glibc
import Synchronization

final class Shelf: Sendable {
  private let waiters = Mutex<[CheckedContinuation<String, Never>]>([])

  func goods() async -> String {
    await withCheckedContinuation { continuation in waiters.withLock { $0.append(continuation) } }
  }

  var count: Int { waiters.withLock { $0.count } }
}

let shelf = Shelf()

func pack(_ order: Int) async {
  await withTaskGroup(of: String.self) { group in
    for _ in 0..<4 { group.addTask { await shelf.goods() } }
    for await goods in group { print(order, goods) }
  }
}

@main struct Orders {
  static func main() {
    for order in 1...3 { Task.detached { await pack(order) } }
    while shelf.count < 12 { usleep(1_000) }
    usleep(200_000)
    print("ready \(getpid())")
    fflush(stdout)
    while true { sleep(1000) }
  }
}
