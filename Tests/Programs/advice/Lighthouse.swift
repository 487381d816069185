// A task with a weak capture that unwraps the capture once, before its loop.
import Dispatch
import Glibc

final class Lighthouse: @unchecked Sendable {
  private static let lit = DispatchSemaphore(value: 0)
  private static let tower = DispatchGroup()
  private var flashes = 0
  private var lamp: Task<Void, Never>?

  deinit {
    lamp?.cancel()
    Self.tower.leave()
  }

  @inline(never) func light() {
    Self.tower.enter()
    #if MENDED
      lamp = Task { [weak self] in
        while let flashes = self?.flash() {
          if flashes == 1 { Self.lit.signal() }
          try? await Task.sleep(for: .milliseconds(10))
        }
      }
    #else
      lamp = Task { [weak self] in  // to change
        guard let self else { return }
        while !Task.isCancelled {
          if self.flash() == 1 { Self.lit.signal() }
          try? await Task.sleep(for: .milliseconds(10))
        }
      }
    #endif
  }

  private func flash() -> Int {
    flashes += 1
    return flashes
  }

  @inline(never) static func shine() {
    for _ in 0..<12 {
      let lighthouse = Lighthouse()
      lighthouse.light()
      lit.wait()
    }
    #if MENDED
      tower.wait()
    #else
      usleep(100_000)
    #endif
  }
}
