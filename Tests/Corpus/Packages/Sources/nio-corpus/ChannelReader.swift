// A sender waits for a reader to take the next element of a channel, and the reader has left the loop.
import AsyncAlgorithms
import Dispatch
import Glibc

final class PageScan: @unchecked Sendable {
  private let pages = AsyncChannel<Int>()
  private var read = 0

  func start() {
    Task {
      for page in 0..<5 { await self.pages.send(page) }
      self.pages.finish()
    }
  }

  /// Up to the page that was looked for.
  func search(for wanted: Int) async {
    for await page in pages {
      read += 1
      if page == wanted { break }
    }
    note(read)
  }

  func stop() { pages.finish() }
}

enum ChannelReader: FaultyProgram {
  static func faulty() { scanAll(stopping: false) }
  static func correct() { scanAll(stopping: true) }

  private static let done = DispatchSemaphore(value: 0)

  private static func scanAll(stopping: Bool) {
    Task {
      for _ in 0..<6 { await scan(stopping: stopping) }
      done.signal()
    }
    done.wait()
    usleep(50_000)
  }

  @inline(never) private static func scan(stopping: Bool) async {
    let scan = PageScan()
    scan.start()
    await scan.search(for: 2)
    if stopping { scan.stop() }
  }
}
