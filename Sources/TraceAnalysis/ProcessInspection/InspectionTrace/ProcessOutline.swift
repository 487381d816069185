// A running process at a glance: images and the C library, read while it runs.

import Glibc
import TraceReading

/// The images of a process, read from its memory without stopping it. A value: it may be out of date a moment later.
package struct ProcessOutline: Hashable, Sendable {
  /// Its images, in order of addresses, with their build IDs.
  package let images: [LoadedImage]
  /// The 36 of glibc 2.36; nil if it is not known.
  package let cLibrary: Int?
  /// The places where the images' files are, as this process can open them.
  package let files: InspectedFiles
  /// Bytes at the beginning of its program that were read.
  package let readBytes: Int
  /// The errno of a read by `process_vm_readv`; 0 if it succeeded.
  package let readError: Int32

  /// The bytes of an image's beginning that are read for a trial.
  private static let trialBytes = 64

  /// - Complexity: Linear in the mappings and the C library's constants.
  package init(of process: Int32) throws(InspectionError) {
    let memory = try LiveProcessMemory(processID: process)
    images = MappedImages.images(in: memory).map(\.image)
    let release = LibcImage(in: memory).release
    cLibrary = release > 0 ? Int(release) : nil
    files = InspectedFiles(ofProcess: process, mappings: memory.mappings, images: images)
    let start = memory.mappings.first { $0.isReadable && $0.file != nil }?.range.lowerBound
    (readBytes, readError) = start.map { memory.directRead(at: $0, count: Self.trialBytes) } ?? (0, EFAULT)
  }
}
