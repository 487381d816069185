// Where reports get names from.

/// Gives the source frames of a recorded address, the innermost inlined one first; never none. For one thread at a time.
public protocol FrameNaming {
  func frames(for key: FrameKey, in image: LoadedImage?) -> [SourceFrame]
  /// Where the function with a linker's name begins; nil if that is not known.
  func address(ofFunction mangledName: String, in image: LoadedImage) -> RuntimeAddress?
  /// The variable at an address in an image's data; nil if that is not known.
  func variable(at address: RuntimeAddress, in image: LoadedImage) -> String?
  /// What the closure with a linker's name captured, found at its own address or its forwarder's; nil if that is not known.
  func captures(ofClosure mangledName: String, at address: RuntimeAddress, in image: LoadedImage) -> ClosureCaptures?
  /// Of the frames of `frames(for:in:)`, in their order, which functions are declared as allocators are (`AllocatorSignature`); fewer where that is not known.
  func allocatorSignatures(for key: FrameKey, in image: LoadedImage?) -> [Bool]
  /// Hashes of the mangled names of the Swift functions that images have, called or not; without those of images of which they are not known. See `SymbolHash`.
  func functionHashes(in images: [LoadedImage]) -> Set<UInt32>
  /// What kept it from naming frames, in sentences.
  var remarks: [String] { get }
}

extension FrameNaming {
  public func allocatorSignatures(for key: FrameKey, in image: LoadedImage?) -> [Bool] { [] }
  public func functionHashes(in images: [LoadedImage]) -> Set<UInt32> { [] }
  public func address(ofFunction mangledName: String, in image: LoadedImage) -> RuntimeAddress? { nil }
  public func variable(at address: RuntimeAddress, in image: LoadedImage) -> String? { nil }
  public func captures(ofClosure mangledName: String, at address: RuntimeAddress, in image: LoadedImage) -> ClosureCaptures? { nil }
}

extension Symbolicator: FrameNaming {
  public var remarks: [String] {
    problems.compactMap { problem in
      let image = PlainText.escaped(problem.imagePath)
      // System libraries seldom come with their debug information, and nobody misses it.
      let isSystem = SystemCode.isSystemImage(problem.imagePath) || problem.imagePath.hasPrefix("[")
      return switch problem.reason {
      case .fileMissing:
        isSystem && problem.imagePath.hasPrefix("[")
          ? nil : "\(image) was not found: its frames stand as module+offset. Say where it is with --sysroot or --debug-path."
      case .buildIDMismatch(let expected, let found):
        "\(PlainText.escaped(problem.file ?? problem.imagePath)) is not the file that ran (build ID \(found.isEmpty ? "missing" : found),"
          + " recorded \(expected)) and was not believed."
      case .unreadable(let error): "\(PlainText.escaped(problem.file ?? problem.imagePath)) cannot be read: \(error)."
      case .noSymbols: isSystem ? nil : "\(image) is stripped: its frames stand as module+offset."
      case .noDebugInformation: isSystem ? nil : "\(image) has no debug information: its frames have no lines. Build with -g."
      case .unverified: isSystem ? nil : "\(image) has no build ID in the trace: its file is believed, but may be another build."
      }
    }
  }
}

/// Names every frame by image and offset, opening no file.
public struct OffsetNaming: FrameNaming {
  public init() {}

  public var remarks: [String] { [] }

  public func frames(for key: FrameKey, in image: LoadedImage?) -> [SourceFrame] {
    let function: String
    if let image {
      function = "\(fileName(ofPath: image.path))+\(Hexadecimal.text(key.address.rawValue &- image.loadBias))"
    } else {
      function = Hexadecimal.text(key.address.rawValue)
    }
    return [
      SourceFrame(
        function: function, fullFunction: function, mangledName: nil, imagePath: image?.path, file: nil, line: nil, column: nil,
        isInlined: false, kind: .user, isAsync: key.isAsync, asyncPart: nil)
    ]
  }
}
