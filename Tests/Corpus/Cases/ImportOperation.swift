// An operation whose completion block captures the operation, and is kept after it ran.
import Foundation

final class ImportOperation: Operation, @unchecked Sendable {
  private var rows = 0
  override func main() { rows = 42 }
  func report() { note(rows) }
}

enum OperationCompletion: FaultyProgram {
  static func faulty() { for _ in 0..<4 { importRows() } }
  static func correct() { for _ in 0..<4 { importRowsWeakly() } }

  @inline(never) private static func importRows() {
    let operation = ImportOperation()
    operation.completionBlock = { operation.report() }
    operation.start()
    settle()
  }

  @inline(never) private static func importRowsWeakly() {
    let operation = ImportOperation()
    operation.completionBlock = { [weak operation] in operation?.report() }
    operation.start()
    settle()
  }
}
