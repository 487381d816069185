// Says `ready PROCESS`, and becomes sleep(1) when it gets SIGUSR1.

import Foundation

final class Page {
  let title: String
  init(_ number: Int) { title = "page \(number), with a title on the heap" }
}

let pages = (0..<100).map(Page.init)
var signals = sigset_t()
sigemptyset(&signals)
sigaddset(&signals, SIGUSR1)
pthread_sigmask(SIG_BLOCK, &signals, nil)
print("ready \(getpid())")
fflush(stdout)
var number: Int32 = 0
sigwait(&signals, &number)
// The process keeps its ID, whichever thread calls exec.
var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("sleep"), strdup("1000"), nil]
execv("/bin/sleep", &arguments)
exit(Int32(pages.count))
