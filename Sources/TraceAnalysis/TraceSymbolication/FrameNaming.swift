// The source of names in reports.

import TraceReading

/// Finds the source frames of a recorded address, the innermost inlined one first; at least one. For one thread at a
/// time.
package protocol FrameNaming {
  func frames(for key: FrameKey, in image: LoadedImage?) -> [SourceFrame]
  /// The address where the function with a linker name begins; nil if unknown.
  func address(ofFunction mangledName: String, in image: LoadedImage) -> RuntimeAddress?
  /// The variable at an address in an image's data; nil if unknown.
  func variable(at address: RuntimeAddress, in image: LoadedImage) -> String?
  /// The captures of the closure with a linker name, found at its own address or its forwarder's; nil if unknown.
  func captures(ofClosure mangledName: String, at address: RuntimeAddress, in image: LoadedImage) -> ClosureCaptures?
  /// The line where a closure begins; nil if debug information does not say.
  func line(ofClosure mangledName: String, at address: RuntimeAddress, in image: LoadedImage) -> Int?
  /// Returns for each frame of `frames(for:in:)`, in their order, whether its function is declared like an allocator
  /// (`AllocatorSignature`); fewer if that is unknown.
  func allocatorSignatures(for key: FrameKey, in image: LoadedImage?) -> [Bool]
  /// Hashes of the mangled names of the Swift functions in images, called or not, except images whose names are
  /// unknown. See `SymbolHash`.
  func functionHashes(in images: [LoadedImage]) -> Set<UInt32>
  /// Returns whether the part of an async function that begins at an address comes back to the same suspension. Nil if
  /// the image's code does not show it.
  func isLoop(partAt address: RuntimeAddress, in image: LoadedImage) -> Bool?
  /// The demangled form of a linker's name; nil if it cannot be demangled.
  func demangled(_ mangledName: String) -> String?
  /// The path of one of the files that a Swift module was compiled from; nil if no debug information has it.
  func sourceFile(ofModule module: String, in images: [LoadedImage]) -> String?
  /// The reasons why frames could not be named, in sentences.
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
  /// The path of a file of the program from another build than the traced one, so that its names are missing. Nil if
  /// there is none among the opened files. System libraries do not count.
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
      isOverLimit ? ["There are more distinct frames than a trace of this size may have: some have no names."] : []
    return limit
      + problems.compactMap { problem in
        let image = PlainText.escaped(problem.imagePath)
        // System libraries seldom come with debug information, and users do not need it.
        let isSystem = SystemCode.isSystemImage(problem.imagePath) || problem.imagePath.hasPrefix("[")
        return switch problem.reason {
        case .fileMissing:
          isSystem && problem.imagePath.hasPrefix("[")
            ? nil
            : "\(image) was not found: its frames appear as module+offset. Give its location with --sysroot or --debug-path."
        case .buildIDMismatch(let expected, let found):
          "\(PlainText.escaped(problem.file ?? problem.imagePath)) is not the file that ran (build ID \(found.isEmpty ? "missing" : found),"
            + " recorded \(expected)) and was not believed."
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

/// Names every frame by image and offset, opening no file.
package struct OffsetNaming: FrameNaming {
  package init() {}

  package var remarks: [String] { [] }

  package func frames(for key: FrameKey, in image: LoadedImage?) -> [SourceFrame] {
    let function: String
    if let image {
      function = "\(fileName(ofPath: image.path))+\(Hexadecimal.text(key.address.rawValue &- image.loadBias))"
    } else {
      function = Hexadecimal.text(key.address.rawValue)
    }
    return [
      SourceFrame(
        function: function, fullFunction: function, mangledName: nil, imagePath: image?.path, file: nil, line: nil,
        column: nil,
        isInlined: false, kind: .user, isAsync: key.isAsync, asyncPart: nil)
    ]
  }
}
