// Threads that end with a call of malloc, whose result is theirs: no frame of the program is left on the stack if that is a tail call. Nobody takes the results.
import Glibc

enum WorkerResults: FaultyProgram {
  private static let size = 720

  static func faulty() { for _ in 0..<6 { work(taking: false) } }
  static func correct() { for _ in 0..<6 { work(taking: true) } }

  @inline(never) private static func work(taking: Bool) {
    var worker = pthread_t()
    guard pthread_create(&worker, nil, { _ in malloc(WorkerResults.size) }, nil) == 0 else { return }
    if taking {
      var result: UnsafeMutableRawPointer?
      pthread_join(worker, &result)
      free(result)
    } else {
      pthread_join(worker, nil)
    }
  }
}
