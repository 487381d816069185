// A work item that its closure's owner keeps.
import Dispatch

final class Search {
  private var pending: DispatchWorkItem?
  private var found = 0

  @inline(never) func schedule() {
    #if MENDED
      pending = DispatchWorkItem { [weak self] in self?.found += 1 }
    #else
      pending = DispatchWorkItem { self.found += 1 }  // to change
    #endif
  }

  @inline(never) static func type() {
    for _ in 0..<4 {
      let search = Search()
      search.schedule()
      search.pending?.perform()
    }
  }
}
