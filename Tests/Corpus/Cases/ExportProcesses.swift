// Who learns of a process's end by its termination handler keeps the process, and what the handler captures: Foundation has a source of a run loop refer to the process, which it clears
// when somebody waits for it (its issue 3260).
import Foundation

final class Export: @unchecked Sendable {
  private let name: String
  private var status: Int32 = 0

  init(name: String) { self.name = name }

  private func process() -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/true")
    process.arguments = [name]
    return process
  }

  func runWithHandler() {
    let ended = DispatchSemaphore(value: 0)
    let process = process()
    process.terminationHandler = {
      self.status = $0.terminationStatus
      ended.signal()
    }
    guard (try? process.run()) != nil else { return }
    ended.wait()
    note(Int(status))
  }

  func runWaiting() {
    let process = process()
    guard (try? process.run()) != nil else { return }
    process.waitUntilExit()
    note(Int(process.terminationStatus))
  }
}

enum ExportProcesses: FaultyProgram {
  static func faulty() {
    for number in 0..<4 { export(number, waiting: false) }
    settle()
  }

  static func correct() {
    for number in 0..<4 { export(number, waiting: true) }
    settle()
  }

  @inline(never) private static func export(_ number: Int, waiting: Bool) {
    let export = Export(name: "sheet \(number)")
    if waiting { export.runWaiting() } else { export.runWithHandler() }
  }
}
