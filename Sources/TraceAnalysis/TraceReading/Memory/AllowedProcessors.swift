// The processors that this process may use.

import Glibc

enum AllowedProcessors {
  /// The number of processors that the kernel may run this process on. If the kernel does not show them, all processors
  /// of the machine (Linux, proc_pid_status(5), `Cpus_allowed`).
  static func count(status: String = "/proc/self/status") -> Int {
    for line in SystemFile.text(status).split(separator: "\n") where line.hasPrefix("Cpus_allowed:") {
      // A mask in hexadecimal digits, with a comma after each eight of them.
      let allowed = line.dropFirst("Cpus_allowed:".count).reduce(0) { $0 + ($1.hexDigitValue?.nonzeroBitCount ?? 0) }
      if allowed > 0 { return allowed }
    }
    return sysconf(Int32(_SC_NPROCESSORS_ONLN))
  }
}
