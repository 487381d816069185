// The interface that reports use to get names.

import TextWriting
import TraceReading

/// Finds names, lines and other facts of code and variables. For one thread at a time.
///
/// `frames(for:in:)` returns the source frames of a recorded address, the innermost inlined frame first. It always
/// returns at least one frame.
package protocol FrameNaming {
  func frames(for key: FrameKey, in image: LoadedImage?) -> [SourceFrame]
  /// Returns the address where the function with the linkage name begins; nil if unknown.
  func address(ofFunction mangledName: String, in image: LoadedImage) -> RuntimeAddress?
  /// Returns the name of the variable at an address in a loaded image's data; nil if unknown.
  func variable(at address: RuntimeAddress, in image: LoadedImage) -> String?
  /// Returns the captures of the closure with the linkage name; nil if unknown. `address` is the closure's own address,
  /// or the address of its forwarder.
  func captures(ofClosure mangledName: String, at address: RuntimeAddress, in image: LoadedImage) -> ClosureCaptures?
  /// Returns the line where a closure begins; nil if debug information does not have it.
  func line(ofClosure mangledName: String, at address: RuntimeAddress, in image: LoadedImage) -> Int?
  /// Returns whether each frame's function is declared like an allocator (`AllocatorSignature`), in the order of
  /// `frames(for:in:)`. The array is shorter if that is unknown.
  func allocatorSignatures(for key: FrameKey, in image: LoadedImage?) -> [Bool]
  /// Returns hashes of the mangled names of all Swift functions in loaded images, whether called or not. Skips images
  /// without symbols. See `SymbolHash`.
  func functionHashes(in images: [LoadedImage]) -> Set<UInt32>
  /// Returns whether the part of an async function that begins at an address can reach the same suspension again. Nil
  /// if the code of the loaded image does not show that.
  func isLoop(partAt address: RuntimeAddress, in image: LoadedImage) -> Bool?
  /// Returns the demangled form of a linkage name; nil if it cannot be demangled.
  func demangled(_ mangledName: String) -> String?
  /// Returns the path of one source file of a Swift module; nil if debug information has none.
  func sourceFile(ofModule module: String, in images: [LoadedImage]) -> String?
  /// Sentences that explain why frames have no names.
  var remarks: [String] { get }
}

extension FrameNaming {
  package func allocatorSignatures(for key: FrameKey, in image: LoadedImage?) -> [Bool] { [] }
  package func isLoop(partAt address: RuntimeAddress, in image: LoadedImage) -> Bool? { nil }
  package func demangled(_ mangledName: String) -> String? { nil }
  package func functionHashes(in images: [LoadedImage]) -> Set<UInt32> { [] }
  package func sourceFile(ofModule module: String, in images: [LoadedImage]) -> String? { nil }
  package func address(ofFunction mangledName: String, in image: LoadedImage) -> RuntimeAddress? { nil }
  package func variable(at address: RuntimeAddress, in image: LoadedImage) -> String? { nil }
  package func captures(ofClosure mangledName: String, at address: RuntimeAddress, in image: LoadedImage)
    -> ClosureCaptures?
  { nil }
  package func line(ofClosure mangledName: String, at address: RuntimeAddress, in image: LoadedImage) -> Int? { nil }
}

extension Symbolicator {
  /// The path of a file of the program that another build has replaced, so that its names are missing. Nil if no opened
  /// file was replaced. System libraries are ignored.
  package var replacedProgramFile: String? {
    problems.first { problem in
      guard case .buildIDMismatch = problem.reason else { return false }
      return problem.file == search.localPath(ofImage: problem.imagePath)
        && !SystemCode.isSystemImage(problem.imagePath) && !SystemCode.isOfOperatingSystem(problem.imagePath)
    }?.file
  }
}

extension Symbolicator: FrameNaming {
  package var remarks: [String] {
    let limit =
      isOverLimit
      ? ["There are more distinct frames than a stranger's trace of this size may have: some have no names."] : []
    return limit
      + problems.compactMap { problem in
        let image = PlainText.escaped(problem.imagePath)
        // System libraries rarely have debug information, and users do not need it.
        let isSystem = SystemCode.isSystemImage(problem.imagePath) || problem.imagePath.hasPrefix("[")
        return switch problem.reason {
        case .fileMissing:
          isSystem && problem.imagePath.hasPrefix("[")
            ? nil
            : "\(image) was not found: its frames appear as module+offset. Give its location with --sysroot or --debug-path."
        case .buildIDMismatch(let expected, let found):
          "\(PlainText.escaped(problem.file ?? problem.imagePath)) is not the file that ran (build ID \(found.isEmpty ? "missing" : found),"
            + " recorded \(expected)) and was not used."
        case .unreadable(let error): "\(PlainText.escaped(problem.file ?? problem.imagePath)) cannot be read: \(error)."
        case .noSymbols: isSystem ? nil : "\(image) is stripped: its frames appear as module+offset."
        case .noDebugInformation:
          isSystem ? nil : "\(image) has no debug information: its frames have no lines. Build with -g."
        case .unverified:
          isSystem
            ? nil
            : "\(image) has no build ID in the trace: leaktrace uses the file it found, which may be another build."
        }
      }
  }
}
