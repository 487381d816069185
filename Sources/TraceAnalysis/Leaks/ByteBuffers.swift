// Blocks of the C library that hold text: whatever stands in them is no reference.

/// Recognises the buffers of streams by the function that allocates them. Such a buffer is taken from memory that was used before, and what it was used for
/// stands in it until the stream has written as much: old pointers, which would keep what they led to. For one thread at a time.
final class ByteBuffers {
  private let definitions: TraceDefinitions
  private let naming: any FrameNaming
  private var known: [FrameKey: Bool] = [:]

  /// Of glibc 2.31 to 2.41: the one function in which streams get their buffers.
  private static let allocators: Set<String> = ["_IO_file_doallocate"]

  init(_ definitions: TraceDefinitions, naming: any FrameNaming) { (self.definitions, self.naming) = (definitions, naming) }

  /// Whether what was allocated with a stack holds bytes alone. Expected constant time; a frame is looked up by name once, and only those of the C library are.
  func isAllocatedBy(_ stack: StackID) -> Bool {
    guard let frame = definitions.stacks.frame(of: stack), let index = frame.image, definitions.images.indices.contains(index) else { return false }
    if let known = known[frame.key] { return known }
    let image = definitions.images[index].image
    let isBuffer = SystemCode.isCLibrary(image.path)
      && naming.frames(for: frame.key, in: image).contains { $0.mangledName.map(Self.allocators.contains) ?? false }
    known[frame.key] = isBuffer
    return isBuffer
  }
}
