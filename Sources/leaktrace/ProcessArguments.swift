// The arguments that this process was started with.

import ProcessInspection

enum ProcessArguments {
  /// The arguments byte for byte, with the command first. Never freed; do not change them.
  ///
  /// The standard library finds the arguments in memory next to the environment (Swift 6.3). It finds none if a
  /// preloaded library, such as libfaketime, has moved the environment before. Then they are read from the kernel.
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
