// The kernel's information about a process.

import Foundation

/// The state of a process as seen from outside.
struct ProcessState {
  let processID: Int32

  private func text(_ name: String) -> String {
    (try? String(contentsOfFile: "/proc/\(processID)/\(name)", encoding: .utf8)) ?? ""
  }

  /// A living child of the process.
  var child: Int32? { text("task/\(processID)/children").split(separator: " ").compactMap { Int32($0) }.first }

  /// Whether the process has exited. A zombie that its parent has not reaped counts as exited.
  var hasEnded: Bool {
    let status = text("stat")
    return status.isEmpty || status.split(separator: ")").last?.hasPrefix(" Z") == true
  }

  /// Whether another process traces this process.
  var isTraced: Bool {
    let status = text("status")
    return !status.isEmpty && !status.contains("TracerPid:\t0\n")
  }

  /// Whether the process waits in one of these system calls, or in the restart of an interrupted call.
  func waits(in systemCalls: Set<Int>) -> Bool {
    guard let call = text("syscall").split(separator: " ").first.flatMap({ Int($0) }) else { return false }
    return systemCalls.contains(call) || call == SystemCall.restart
  }
}

/// Numbers of system calls on x86-64.
enum SystemCall {
  static let restart = 219
  static let pause = 34
  static let poll = 7
  /// `poll`, `select`, `nanosleep`, `recvfrom`, `rt_sigtimedwait`, `clock_nanosleep`, `epoll_wait`, `pselect6`, `ppoll`,
  /// `epoll_pwait`.
  static let timedWaits: Set<Int> = [7, 23, 35, 45, 128, 230, 232, 270, 271, 281]
}
