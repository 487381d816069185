// Reflection over a heap image.

import CElfutils
import TextWriting
import TraceReading
import TraceSymbolication

extension HeapImage {
  /// The words of this heap image, and the memory ranges that were captured.
  struct Capture: CapturedWords {
    let image: HeapImage
    /// Captured regions, in order of address.
    let ranges: [Range<UInt64>]

    init(_ image: HeapImage, _ snapshot: TraceSnapshot) {
      self.image = image
      ranges = snapshot.regions.filter(\.isCaptured).map(\.range)
    }

    func word(at address: RuntimeAddress) -> UInt64? { image.word(at: address.rawValue) }

    func covers(_ address: RuntimeAddress) -> Bool {
      var low = 0
      var high = ranges.count
      while low < high {
        let middle = (low + high) / 2
        if ranges[middle].upperBound <= address.rawValue { low = middle + 1 } else { high = middle }
      }
      return low < ranges.count && ranges[low].contains(address.rawValue)
    }
  }
}

/// Layouts from the Swift runtime's own reflection library. It reads the heap image, and the files of the program and
/// of the libraries that were loaded.
package final class ReflectedLayouts: LayoutSource {
  private let memory: ImageBackedMemory
  private let contents: ImageContents
  private let reflection: SwiftReflection?
  package let problem: String?

  /// Starts the child process for reflection. `libraries`: candidate paths of the mirror library, see
  /// `RemoteMirrorLibrary`.
  package init(_ contents: ImageContents, image: HeapImage, snapshot: TraceSnapshot, libraries: [String]) {
    self.contents = contents
    memory = ImageBackedMemory(images: contents, captured: HeapImage.Capture(image, snapshot))
    do throws(SwiftReflectionError) {
      reflection = try SwiftReflection(images: contents, memory: memory, libraries: libraries)
      problem = nil
    } catch {
      reflection = nil
      problem =
        switch error {
        case .libraryMissing:
          "libswiftRemoteMirror.so, which comes with the Swift toolchain, was not found: put swiftc on the PATH"
        case .libraryUnusable(let path, let reason): "\(path) cannot be loaded: \(reason)"
        case .noReflectionSections: "no file of the program with Swift reflection metadata was found"
        case .system(let code): "no process for it can be started: errno \(code)"
        }
    }
  }

  package func layout(ofInstanceAt address: RuntimeAddress, metadata: RuntimeAddress) -> ObjectLayout? {
    reflection?.layout(ofInstanceAt: address, metadata: metadata)
  }

  package func dependsOnInstance(_ metadata: RuntimeAddress) -> Bool {
    reflection?.dependsOnInstance(metadata) ?? false
  }

  package func bufferedValue(ofTypeWithMetadata address: UInt64) -> BufferedValue? {
    reflection?.bufferedValue(ofTypeWithMetadata: RuntimeAddress(address))
  }

  /// Returns the first word of a metadata record, which is the record's kind.
  package func metadataKind(at address: UInt64) -> UInt64? { word(at: address) }

  package func word(at address: UInt64) -> UInt64? { memory.word(at: RuntimeAddress(address)) }

  package func hasNoSize(valuesOfTypeAt address: UInt64) -> Bool {
    ValueWitnesses(ofTypeWithMetadata: RuntimeAddress(address), in: memory)?.size == 0
  }

  package func addresses(ofConcurrencyVariable name: String) -> [UInt64] {
    addresses(ofConcurrencySymbol: name, .variables)
  }

  package func hasConcurrency(function name: String) -> Bool {
    !addresses(ofConcurrencySymbol: name, .functions).isEmpty
  }

  private func addresses(ofConcurrencySymbol name: String, _ subject: SymbolTable.Subject) -> [UInt64] {
    let isLibrary = { (image: ImageContents.Image) in
      fileName(ofPath: image.loaded.path).hasPrefix("libswift_Concurrency")
    }
    // The program may link the runtime statically.
    let shared = contents.images.filter(isLibrary).compactMap { $0.address(of: name, subject, in: SHT_DYNSYM) }
    return shared.isEmpty
      ? contents.images.filter { !isLibrary($0) }.compactMap { $0.address(of: name, subject, in: SHT_SYMTAB) } : shared
  }
}
