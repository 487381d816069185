// Memory with unexpected contents.

import Glibc
import TestRequirements
import Testing

@testable import HeapAnalysis
@testable import TraceReading

/// Changes the bytes that are read. The changes are equal in each run.
private final class DamagedMemory: TargetMemory {
  private let memory: ProcessMemory
  private let seed: UInt64

  init(_ memory: ProcessMemory, seed: UInt64) {
    self.memory = memory
    self.seed = seed
  }

  func read(_ address: RuntimeAddress, into buffer: UnsafeMutableRawBufferPointer) -> Bool {
    guard memory.read(address, into: buffer) else { return false }
    for index in buffer.indices {
      var hash = (address.rawValue &+ UInt64(index)) &* 0x9E37_79B9_7F4A_7C15 ^ seed
      hash = (hash ^ hash >> 29) &* 0xBF58_476D_1CE4_E5B9
      if hash >> 58 == 0 { buffer[index] ^= UInt8(truncatingIfNeeded: 1 << (hash & 7)) }
    }
    return true
  }
}

/// Ends the process that reads an address in the lethal range, unless it is the tests' own process.
private final class LethalMemory: TargetMemory {
  private let memory: ProcessMemory
  private let lethal: Range<UInt64>
  private let tests = getpid()

  init(_ memory: ProcessMemory, lethal: Range<UInt64>) {
    self.memory = memory
    self.lethal = lethal
  }

  func read(_ address: RuntimeAddress, into buffer: UnsafeMutableRawBufferPointer) -> Bool {
    if lethal.overlaps(address.rawValue..<address.rawValue + UInt64(buffer.count)), getpid() != tests { abort() }
    return memory.read(address, into: buffer)
  }
}

@Suite struct HostileMemoryTests {
  @Test(arguments: TestTier.arguments([0, 1], of: Array(0..<8)) as [UInt64])
  func damagedMemoryIsReadSafely(seed: UInt64) throws {
    let process = try SpecimenProcess.running(.debug)
    let reflection = try process.reflection(DamagedMemory(ProcessMemory(of: process.processID), seed: seed))
    for specimen in process.specimens.values {
      guard let layout = reflection.layout(ofInstanceAt: specimen.address, metadata: specimen.metadata) else {
        continue
      }
      #expect(layout.references.allSatisfy { $0.offset >= 16 && $0.offset <= layout.size - 8 }, "\(specimen.name)")
      #expect(
        layout.opaque.allSatisfy { $0.range.lowerBound >= 16 && $0.range.upperBound <= layout.size }, "\(specimen.name)"
      )
    }
    #expect(reflection.failedQuestions <= 64)
  }

  @Test func typeThatCrashesTheChildIsSkippedAndOthersAreReflected() throws {
    let process = try SpecimenProcess.running(.debug)
    let memory = ProcessMemory(of: process.processID)
    let lethal = try #require(process.specimens["strengths"]).metadata.rawValue
    let reflection = try process.reflection(LethalMemory(memory, lethal: lethal..<lethal + 8))
    for _ in 0..<3 { #expect(process.layout(of: "strengths", reflection) == nil) }
    #expect(reflection.failedQuestions == 1)
    #expect(process.layout(of: "derived", reflection)?.references.map(\.name) == ["first", "parent", "last"])
    #expect(reflection.failedQuestions == 1)
  }

  @Test func invalidObjectsHaveNoLayout() throws {
    let process = try SpecimenProcess.running(.debug)
    let reflection = try process.reflection(ProcessMemory(of: process.processID))
    let object = try #require(process.specimens["leaf"])
    #expect(reflection.layout(ofInstanceAt: object.address, metadata: RuntimeAddress(0)) == nil)
    #expect(reflection.layout(ofInstanceAt: object.address, metadata: object.address) == nil)
    #expect(reflection.layout(ofInstanceAt: object.address, metadata: RuntimeAddress(.max - 3)) == nil)
    #expect(reflection.value(ofTypeWithMetadata: RuntimeAddress(1)) == nil)
  }

  @Test func missingLibraryIsReported() throws {
    let process = try SpecimenProcess.running(.debug)
    let memory = ProcessMemory(of: process.processID)
    let contents = ImageContents(process.images)
    #expect(throws: SwiftReflectionError.libraryMissing(searched: ["/nowhere/libswiftRemoteMirror.so"])) {
      try SwiftReflection(images: contents, memory: memory, libraries: ["/nowhere/libswiftRemoteMirror.so"])
    }
    let libraries = RemoteMirrorLibrary.candidates(images: process.images, path: "")
    #expect(throws: SwiftReflectionError.noReflectionSections) {
      try SwiftReflection(images: ImageContents([]), memory: memory, libraries: libraries)
    }
  }
}
