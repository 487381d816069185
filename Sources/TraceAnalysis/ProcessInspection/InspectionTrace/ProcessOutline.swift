// The loaded images and the C library of a running process.

import Glibc
import TraceReading

/// The loaded images of a process, read from its memory without stopping it. It may be out of date a moment later.
package struct ProcessOutline: Hashable, Sendable {
  /// The loaded images with their build IDs, in order of addresses.
  package let images: [LoadedImage]
  /// The release of glibc: 36 for glibc 2.36. Nil if it is not known.
  package let cLibrary: Int?
  /// The paths that this process can use to open the files of the loaded images.
  package let files: InspectedFiles
  /// The number of bytes that a trial read from the process's first file mapping.
  package let readBytes: Int
  /// The errno of the trial read with `process_vm_readv`; 0 if all bytes were read.
  package let readError: Int32

  /// The number of bytes that the trial reads.
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
