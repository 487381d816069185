// A running program whose objects and memory the tests examine.

import CElfutils
import Foundation
import TestRequirements

@testable import HeapAnalysis
@testable import TraceReading
@testable import TraceSymbolication

struct SpecimenFailure: Error, CustomStringConvertible {
  var description: String
}

/// The ways to build `Tests/Programs/reflection-specimens.swift`.
enum SpecimenBuild: String, CaseIterable, Sendable {
  case debug, optimized, staticLibrary, staticStripped

  static let tested = TestTier.arguments([debug, staticStripped], of: allCases)

  var arguments: [String] {
    switch self {
    case .debug: ["-Onone"]
    case .optimized: ["-O"]
    case .staticLibrary: ["-O", "-static-stdlib"]
    case .staticStripped: ["-O", "-static-stdlib", "-Xlinker", "--strip-all"]
    }
  }
}

/// A process of the specimen program, stopped at the end of its work. The process ends with the last reference to this
/// object.
final class SpecimenProcess: @unchecked Sendable {
  struct Specimen {
    var name: String
    var address: RuntimeAddress
    var metadata: RuntimeAddress
  }

  let processID: pid_t
  private(set) var specimens: [String: Specimen] = [:]
  let images: [LoadedImage]
  let regions: [MappedRegion]
  private let process: Process
  private let input = Pipe()

  static let debug = Result { try SpecimenProcess(.debug) }
  static let optimized = Result { try SpecimenProcess(.optimized) }
  static let staticLibrary = Result { try SpecimenProcess(.staticLibrary) }
  static let staticStripped = Result { try SpecimenProcess(.staticStripped) }

  static func running(_ build: SpecimenBuild) throws -> SpecimenProcess {
    switch build {
    case .debug: try debug.get()
    case .optimized: try optimized.get()
    case .staticLibrary: try staticLibrary.get()
    case .staticStripped: try staticStripped.get()
    }
  }

  private init(_ build: SpecimenBuild) throws {
    let directory = FileManager.default.temporaryDirectory.path + "/reflection-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let source =
      URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().path
      + "/Programs/reflection-specimens.swift"
    let compiler = Process()
    compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    compiler.arguments = [
      "swiftc", "-swift-version", "5", "-suppress-warnings", "-module-name", "specimens", source, "-o",
      directory + "/specimens",
    ]
    compiler.arguments! += build.arguments
    try compiler.run()
    compiler.waitUntilExit()
    guard compiler.terminationStatus == 0 else { throw SpecimenFailure(description: "swiftc failed") }

    process = Process()
    process.executableURL = URL(fileURLWithPath: directory + "/specimens")
    let output = Pipe()
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    processID = process.processIdentifier
    var text = ""
    while !text.hasSuffix("ready\n") {
      let more = output.fileHandleForReading.availableData
      guard !more.isEmpty else { throw SpecimenFailure(description: "the specimens ended early: \(text)") }
      text += String(decoding: more, as: UTF8.self)
    }
    regions = try MappedRegion.all(of: processID)
    // The file is removed soon, but is accessible through the process while it runs.
    images = try Self.images(regions, program: "/proc/\(processID)/exe", replacing: directory + "/specimens")
    for line in text.split(separator: "\n") {
      let parts = line.split(separator: " ")
      guard parts.count == 3, let address = UInt64(parts[1], radix: 16), let metadata = UInt64(parts[2], radix: 16)
      else { continue }
      specimens[String(parts[0])] = Specimen(
        name: String(parts[0]), address: RuntimeAddress(address), metadata: RuntimeAddress(metadata))
    }
  }

  deinit {
    process.terminate()
  }

  func reflection(_ memory: any TargetMemory) throws -> SwiftReflection {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    return try SwiftReflection(
      images: ImageContents(images), memory: memory,
      libraries: RemoteMirrorLibrary.candidates(images: images, path: path))
  }

  func layout(of name: String, _ reflection: SwiftReflection) -> ObjectLayout? {
    specimens[name].flatMap { reflection.layout(ofInstanceAt: $0.address, metadata: $0.metadata) }
  }

  private static func images(_ regions: [MappedRegion], program: String, replacing path: String) throws -> [LoadedImage]
  {
    var images: [LoadedImage] = []
    for (name, parts) in Dictionary(grouping: regions.filter { $0.path.hasPrefix("/") }, by: \.path) {
      let file = name == path || name == path + " (deleted)" ? program : name
      guard let contents = try? LocalSymbolFiles().contents(ofFile: file),
        let elf = try? ElfFile(path: file, contents: contents),
        let first = parts.first(where: { $0.offset == 0 })
      else { continue }
      var lowest = UInt64.max
      var count = 0
      var header = GElf_Phdr()
      elf_getphdrnum(elf.handle, &count)
      for index in 0..<count {
        gelf_getphdr(elf.handle, Int32(index), &header)
        if header.p_type == PT_LOAD { lowest = min(lowest, header.p_vaddr & ~4095) }
      }
      // Zero-initialized data has a mapping without a file, after the file's last part.
      var end = parts.map(\.range.upperBound).max()!
      if let bss = regions.first(where: { $0.range.lowerBound == end && $0.path.isEmpty }) {
        end = bss.range.upperBound
      }
      images.append(
        LoadedImage(
          path: file, buildID: elf.buildID, loadBias: first.range.lowerBound &- lowest,
          range: RuntimeAddress(parts.map(\.range.lowerBound).min()!)..<RuntimeAddress(end)))
    }
    return images.sorted { $0.range.lowerBound < $1.range.lowerBound }
  }
}

/// A line of `/proc/PID/maps`.
struct MappedRegion {
  var range: Range<UInt64>
  var offset: UInt64
  var isReadable: Bool
  var isWritable: Bool
  var path: String

  static func all(of process: pid_t) throws -> [MappedRegion] {
    guard let file = fopen("/proc/\(process)/maps", "r") else {
      throw SpecimenFailure(description: "no maps of \(process)")
    }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    while case let byte = getc(file), byte != EOF { bytes.append(UInt8(byte)) }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { line in
      let parts = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
      let ends = parts[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
      guard parts.count >= 5, ends.count == 2, let offset = UInt64(parts[2], radix: 16) else { return nil }
      return MappedRegion(
        range: ends[0]..<ends[1], offset: offset, isReadable: parts[1].hasPrefix("r"),
        isWritable: parts[1].dropFirst().hasPrefix("w"),
        path: parts.count > 5 ? String(parts[5]).trimmingCharacters(in: .whitespaces) : "")
    }
  }
}

/// All memory of a running process. Reading it needs no descriptor, which a child process would not inherit.
final class ProcessMemory: TargetMemory {
  private typealias ReadMemory =
    @convention(c) (
      pid_t, UnsafePointer<iovec>, CUnsignedLong, UnsafePointer<iovec>, CUnsignedLong, CUnsignedLong
    ) -> Int
  /// Swift's Glibc module lacks this function.
  private static let readMemory = unsafeBitCast(dlsym(nil, "process_vm_readv"), to: ReadMemory.self)

  private let process: pid_t

  init(of process: pid_t) { self.process = process }

  func read(_ address: RuntimeAddress, into buffer: UnsafeMutableRawBufferPointer) -> Bool {
    guard address.rawValue < 1 << 47 else { return false }
    var local = iovec(iov_base: buffer.baseAddress, iov_len: buffer.count)
    var remote = iovec(iov_base: UnsafeMutableRawPointer(bitPattern: UInt(address.rawValue)), iov_len: buffer.count)
    return Self.readMemory(process, &local, 1, &remote, 1, 0) == buffer.count
  }
}
