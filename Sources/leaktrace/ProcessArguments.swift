// The arguments that this process was started with.

import ProcessInspection

enum ProcessArguments {
  /// Byte for byte, the command first. Never freed, and not to be changed.
  ///
  /// The standard library finds them beside the environment (Swift 6.3). It has none if a preloaded library has put the
  /// environment elsewhere before, as libfaketime does. The kernel knows them all the same.
  nonisolated(unsafe) static let raw: [UnsafeMutablePointer<CChar>] = {
    let count = Int(CommandLine.argc)
    if count > 0 { return (0..<count).compactMap { CommandLine.unsafeArgv[$0] } }
    let bytes = ProcFile.bytes("/proc/self/cmdline", upTo: .max)
    return bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast().map { argument in
      let copy = UnsafeMutablePointer<CChar>.allocate(capacity: argument.count + 1)
      for (index, byte) in argument.enumerated() { copy[index] = CChar(bitPattern: byte) }
      copy[argument.count] = 0
      return copy
    }
  }()
}
