// The owner of memory that a library allocated.

import Testing
import TraceTestSupport

@testable import LeakDetection
@testable import TraceReading
@testable import TraceSymbolication
@testable import Wording

@Suite struct LeakOwnerTests {
  /// Returns the finding for functions from the allocation outwards, each with its image. The empty name means a
  /// function without a name in a stripped image.
  private func finding(_ functions: [(name: String, image: String)]) throws -> Finding? {
    let heap = HeapBuilder()
    var naming = CFunctions()
    var stack: [UInt64] = []
    for (index, function) in functions.enumerated() {
      let address = 0x1000_1100 + UInt64(index) * 16
      naming.functions[address] = function
      stack.insert(address, at: 0)
    }
    _ = heap.malloc(48, stack: stack)
    return try heap.analysis(naming: naming).findings().first
  }

  private struct CFunctions: FrameNaming {
    var functions: [UInt64: (name: String, image: String)] = [:]
    var remarks: [String] { [] }

    func frames(for key: FrameKey, in image: LoadedImage?) -> [SourceFrame] {
      guard let (name, image) = functions[key.address.rawValue] else { return [] }
      return [
        SourceFrame(
          function: name.isEmpty ? "image+0x10" : name, fullFunction: name, mangledName: name.isEmpty ? nil : name,
          imagePath: image, isInlined: false,
          kind: SystemCode.isSystemImage(image) ? .systemLibrary : .user,
          isAsync: false)
      ]
    }
  }

  private let libc = "/lib/x86_64-linux-gnu/libc.so.6"
  private let curl = "/lib/x86_64-linux-gnu/libcurl.so.4"
  private let app = "/srv/app/server"

  @Test func tailCallAllocationOfAThreadFunctionBelongsToTheProgram() throws {
    let block = try #require(try finding([("malloc", libc), ("start_thread", libc), ("clone3", libc)]))
    #expect(!block.isLibrary && block.path[0].allocation?.function == "start_thread")
    let copy = try #require(
      try finding([("malloc", libc), ("__GI___strdup", libc), ("start_thread", libc), ("clone3", libc)]))
    #expect(!copy.isLibrary && copy.path[0].allocation?.function == "__GI___strdup")
  }

  @Test("A stripped C library changes no verdict about thread functions and main")
  func strippedBeginnings() throws {
    let thread = try #require(try finding([("malloc", libc), ("", libc), ("", libc)]))
    #expect(!thread.isLibrary && thread.path[0].allocation?.function == "start_thread")
    let old = "/lib/x86_64-linux-gnu/libc-2.31.so"
    let earlier = try #require(
      try finding([("malloc", old), ("", "/lib/x86_64-linux-gnu/libpthread-2.31.so"), ("clone", old)]))
    #expect(!earlier.isLibrary && earlier.path[0].allocation?.function == "start_thread")
    let main = try #require(
      try finding([
        ("malloc", libc), ("", libc), ("__libc_start_main", libc), ("_start", "/lib64/ld-linux-x86-64.so.2"),
      ]))
    #expect(!main.isLibrary)
  }

  @Test("The caller of a C library function owns its memory even without inner symbols")
  func strippedFunction() throws {
    let block = try #require(
      try finding([("realloc", libc), ("", libc), ("_IO_fclose", libc), ("load_settings", app), ("main", app)]))
    #expect(!block.isLibrary && block.path[0].allocation?.function == "load_settings")
  }

  @Test(arguments: [
    "_IO_getdelim", "_IO_mem_finish", "__pthread_attr_setaffinity_new", "__vasprintf_internal", "__realpath",
    "__scandir_tail", "getaddrinfo",
  ])
  func memoryReturnedByTheCLibraryBelongsToItsCaller(_ function: String) throws {
    let block = try #require(try finding([("malloc", libc), (function, libc), ("load_settings", app), ("main", app)]))
    #expect(!block.isLibrary && block.path[0].allocation?.function == "load_settings")
  }

  @Test func internalMemoryOfTheCLibraryAndTheLoaderIsNotReported() throws {
    #expect(
      try finding([
        ("calloc", "/lib64/ld-linux-x86-64.so.2"), ("allocate_dtv", "/lib64/ld-linux-x86-64.so.2"),
        ("pthread_create", libc), ("main", app),
      ]) == nil)
    #expect(try finding([("malloc", libc), ("__GI_setlocale", libc), ("main", app)]) == nil)
  }

  @Test func systemLibraryMemoryBelongsToItsCaller() throws {
    let foundation = "/usr/lib/swift/linux/libFoundationNetworking.so"
    let made = try #require(
      try finding([
        ("malloc", libc), ("Curl_open", curl), ("CFURLSessionEasyHandleInit", foundation), ("fetch", app),
        ("main", app),
      ]))
    #expect(made.owner.reason == "made inside libcurl.so.4, which libFoundationNetworking.so called")
    let resolver = try #require(
      try finding([("malloc", libc), ("Curl_resolve", curl), ("start_thread", libc), ("clone3", libc)]))
    #expect(resolver.owner.reason == "made inside libcurl.so.4 without a caller in the program")
    let own = try #require(try finding([("malloc", libc), ("curl_easy_init", curl), ("fetch", app), ("main", app)]))
    #expect(!own.isLibrary && own.path[0].allocation?.function == "fetch")
  }
}

/// Memory that a package's own code requested.
@Suite struct PackageOwnerTests {
  private struct Function: FrameNaming {
    var names: [UInt64: (mangled: String, full: String, file: String)] = [:]
    var remarks: [String] { [] }

    func frames(for key: FrameKey, in image: LoadedImage?) -> [SourceFrame] {
      guard let (mangled, full, file) = names[key.address.rawValue] else { return [] }
      return [
        SourceFrame(
          function: full, fullFunction: full, mangledName: mangled,
          imagePath: "/srv/app/.build/x86_64-unknown-linux-gnu/release/server", file: file, line: 10, column: nil,
          isInlined: false, kind: .user, isAsync: false, asyncPart: nil)
      ]
    }
  }

  private static let crypto = "/srv/app/.build/checkouts/swift-crypto/Sources/"
  private static let allocate = ("CCrypto_malloc", "CCrypto_malloc", crypto + "CCrypto/mem.c")

  /// Returns the finding for functions from the allocation outwards.
  private func finding(_ functions: [(mangled: String, full: String, file: String)]) throws -> Finding {
    let heap = HeapBuilder()
    var naming = Function()
    var stack: [UInt64] = []
    for (index, function) in functions.enumerated() {
      naming.names[0x1000_1100 + UInt64(index) * 16] = function
      stack.insert(0x1000_1100 + UInt64(index) * 16, at: 0)
    }
    _ = heap.malloc(48, stack: stack)
    return try #require(try heap.analysis(naming: naming).findings().first)
  }

  private static let sign = (
    "$s6Server4signyyF", "Server.sign() -> Foundation.Data", "/srv/app/Sources/Server/Sign.swift"
  )

  @Test func packageFreesMemoryItsSwiftCodeAllocates() throws {
    let key = ("$s6Crypto3KeyV", "Crypto.Key.init(bits: Swift.Int) -> Crypto.Key", Self.crypto + "Crypto/Key.swift")
    let lost = try finding([Self.allocate, key, Self.sign])
    #expect(
      lost.verdict == .lost && lost.owner.reason == "made inside \(key.1), which the package swift-crypto has to free")
  }

  @Test func callerFreesAPointerThatAPackageReturns() throws {
    for result in [
      "Swift.UnsafeMutableRawPointer", "Crypto.UnsafeBuffer", "Swift.OpaquePointer?", "Swift.Unmanaged<Crypto.Key>",
    ] {
      let make = ("$s6Crypto4makeyyF", "Crypto.make(bits: Swift.Int) -> \(result)", Self.crypto + "Crypto/Make.swift")
      #expect(try !finding([Self.allocate, make, Self.sign]).isLibrary, "\(result)")
    }
  }

  @Test func programFreesMemoryFromAPackagesCFunction() throws {
    #expect(try !finding([Self.allocate, Self.sign]).isLibrary)
  }

  @Test func programFreesMemoryItAllocatesInsideAPackagesCall() throws {
    let closure = ("$s6Server4signyyFU_", "closure #1 () -> () in Server.sign()", "/srv/app/Sources/Server/Sign.swift")
    let with = ("$s6Crypto4withyyF", "Crypto.with<A>(() -> A) -> A", Self.crypto + "Crypto/With.swift")
    #expect(try !finding([closure, with, Self.sign]).isLibrary)
  }
}

@Suite struct RunnerCodeTests {
  @Test(arguments: [
    ("/srv/app/.build/debug/ShopPackageTests.derived/runner.swift", SourceFrame.Kind.systemLibrary),
    ("/srv/app/.build/debug/ShopPackageDiscoveredTests.derived/ShopTests.swift", .systemLibrary),
    ("/srv/app/Tests/ShopTests/BasketTests.swift", .user),
  ]) func generatedTestBundleFilesBelongToTheRunner(_ file: String, _ kind: SourceFrame.Kind) {
    let name = DemangledName(
      full: "static ShopPackageTests.Runner.main()", short: "static Runner.main()", language: .swift,
      module: "ShopPackageTests", isThunk: false, isMerged: false,
      isAsync: false, asyncPart: nil)
    let position = SourcePosition(file: file, line: 3, column: 1)
    #expect(
      SystemCode.kind(
        of: name, mangled: "$s16ShopPackageTests6RunnerV4mainyyFZ", inImage: "/srv/app/ShopPackageTests.xctest",
        position: position) == kind)
  }

  @Test func cLibraryFunctionDefinedInAHeaderIsFolded() {
    let name = DemangledName(
      full: "getline", short: "getline", language: .other, module: nil, isThunk: false, isMerged: false, isAsync: false,
      asyncPart: nil)
    let position = SourcePosition(file: "/usr/include/x86_64-linux-gnu/bits/stdio.h", line: 120, column: 1)
    #expect(SystemCode.kind(of: name, mangled: "getline", inImage: "/srv/app/reader", position: position) == .thunk)
  }
}
