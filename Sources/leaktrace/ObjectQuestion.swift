// The code that `why` and `history`, the commands that answer questions about objects, have in common.

import Glibc
import TraceAnalysis

enum ObjectQuestion {
  /// Opens a trace. Prints the reason and returns nil if it cannot be read.
  static func open(_ trace: String, part: TracePart = .whole, _ policy: ReadingPolicy) -> TraceReader? {
    do {
      return try TraceReader(path: trace, part: part, policy: policy)
    } catch {
      complain(explanation(of: error, path: trace))
      return nil
    }
  }

  /// Returns the type names of the blocks in a heap image, without module names.
  static func typeNames(_ graph: ObjectGraph) -> [String] {
    var isPresent = [Bool](repeating: false, count: graph.types.count)
    for node in 0..<graph.blockCount { isPresent[Int(graph.nodeTypes[node])] = true }
    return zip(graph.types, isPresent).filter(\.1).map(\.0.name)
  }

  /// Writes text to standard output. `name` is the output's name in the error message.
  static func show(_ text: String, called name: String) throws { try show(text.utf8, called: name) }

  /// Writes bytes to a file, or to standard output if the path is nil.
  static func write(_ bytes: [UInt8], to path: String?, called name: String) throws {
    guard let path else { return try show(bytes, called: name) }
    do throws(OutputFile.Failure) {
      try OutputFile.write(bytes, to: path)
    } catch {
      complain("cannot write \(path): \(String(cString: strerror(error.errno)))")
      throw ExitStatus.outputFailed.code
    }
  }

  /// Writes bytes to standard output.
  static func show(_ bytes: some Sequence<UInt8>, called name: String) throws {
    let output = OutputBuffer()
    do {
      try output.write(bytes)
      try output.flush()
    } catch {
      if case OutputBuffer.Failure.write(let code) = error {
        complain("cannot write \(name): \(String(cString: strerror(code)))")
      }
      throw ExitStatus.outputFailed.code
    }
  }
}
