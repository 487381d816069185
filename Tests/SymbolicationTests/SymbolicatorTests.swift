// The frames of single addresses.

import Foundation
import HeapAnalysis
import Testing
import TraceReading
@testable import TraceSymbolication

@Suite struct SymbolicatorTests {
  @Test func returnAddressBelongsToThePrecedingCall() throws {
    // The call of abort is the last instruction of give_up, so its return address is in the next function.
    let program = try SharedProgram.cOptimised.get()
    let symbolicator = Symbolicator(images: [program.image()])
    let start = try #require(program.functions["give_up"])
    let next = try #require(program.functions.values.filter { $0 > start }.min())
    let disassembly = try Tool.run("objdump", ["-d", "--no-show-raw-insn", "--disassemble=give_up", program.path])
    let lastCall = try #require(disassembly.split(separator: "\n").last { $0.contains("call") })
    #expect(lastCall.contains("abort"))
    let callAddress = try #require(
      UInt64(lastCall.split(separator: ":")[0].trimmingCharacters(in: .whitespaces), radix: 16))
    let returnAddress = RuntimeAddress(callAddress + 5 + ProgramFixture.loadBias)
    let frames = symbolicator.frames(for: .returnAddress(returnAddress), in: program.image())
    #expect(frames.map(\.function) == ["give_up"])
    #expect(frames.first?.line == 10)
    if callAddress + 5 == next {
      #expect(symbolicator.frames(for: .exact(returnAddress), in: program.image()).last?.function != "give_up")
    }
  }

  @Test func inlinedCallGivesTheCalleeAndThenTheLineInTheCaller() throws {
    let program = try SharedProgram.cOptimised.get()
    let symbolicator = Symbolicator(images: [program.image()])
    let start = try program.address(of: "twice").rawValue
    let stacks = (0..<40).map { symbolicator.frames(for: .exact(RuntimeAddress(start + $0)), in: program.image()) }
    let inlined = stacks.filter { $0.count == 2 && $0[0].line != nil }
    #expect(!inlined.isEmpty)
    for stack in inlined {
      #expect(stack.map(\.function) == ["add_one", "twice"])
      #expect(stack.map(\.isInlined) == [true, false])
      #expect(stack[0].line == 5)
      #expect(stack[0].file?.hasSuffix("/sample.c") == true)
      #expect(stack[1].line == 14 || stack[1].line == 15)
    }
    #expect(Set(inlined.map { $0[1].line }) == [14, 15])
  }

  @Test func debugInformationListsTheSourceFilesOfAModule() throws {
    for program in [SharedProgram.swiftDebug, SharedProgram.swiftOptimised, SharedProgram.swiftStaticLibraries] {
      let image = try program.get().image()
      let symbolicator = Symbolicator(images: [image])
      #expect(symbolicator.sourceFile(ofModule: "sample", in: [image])?.hasSuffix("/sample.swift") == true)
      #expect(symbolicator.sourceFile(ofModule: "absent", in: [image]) == nil)
      #expect(symbolicator.sourceFile(ofModule: "Swift", in: [image]) == nil)
    }
  }

  @Test func addressWithoutSymbolsGivesTheModuleAndOffset() throws {
    let program = try SharedProgram.cOptimised.get()
    let symbolicator = Symbolicator(images: [program.image()])
    let frames = symbolicator.frames(
      for: .returnAddress(RuntimeAddress(ProgramFixture.loadBias + 0x10)), in: program.image())
    #expect(frames.map(\.function) == ["program+0x10"])
    #expect(frames[0].isNamed == false)
    #expect(frames[0].line == nil)
  }

  @Test func addressOutsideImagesIsShownAsANumber() {
    let symbolicator = Symbolicator(images: [])
    let frames = symbolicator.frames(for: .exact(RuntimeAddress(0xabcd)), in: nil)
    #expect(frames.map(\.function) == ["0xabcd"])
    #expect(frames[0].imagePath == nil)
    #expect(symbolicator.problems.isEmpty)
  }

  @Test func framesBeyondTheLimitAreUnnamedAndEarlierOnesKeepTheirNames() throws {
    let program = try SharedProgram.cOptimised.get()
    let symbolicator = Symbolicator(images: [program.image()], frameLimit: 2)
    let known = FrameKey.exact(try program.address(of: "main"))
    #expect(symbolicator.frames(for: known, in: program.image()).last?.function == "main")
    _ = symbolicator.frames(for: .exact(RuntimeAddress(0xabcd)), in: nil)
    #expect(symbolicator.remarks.isEmpty)
    for address in [0x1000, 0x2000] as [UInt64] {
      let frames =
        symbolicator.frames(for: .exact(RuntimeAddress(address)), in: nil)
        + symbolicator.frames(for: .exact(RuntimeAddress(address)), in: program.image())
      #expect(
        frames.map(\.function) == ["code without a name", "code without a name"]
          && frames.allSatisfy { !$0.isNamed && $0.imagePath == nil })
    }
    #expect(symbolicator.frames(for: known, in: program.image()).last?.function == "main")
    #expect(symbolicator.remarks.count == 1)
  }

  @Test func addressesBelowTheLoadBiasAndAtTheEndOfMemoryAreSafe() throws {
    let program = try SharedProgram.cOptimised.get()
    let symbolicator = Symbolicator(images: [program.image()])
    for address in [0, 1, ProgramFixture.loadBias - 1, ProgramFixture.loadBias, .max] {
      for key in [FrameKey.exact(RuntimeAddress(address)), .returnAddress(RuntimeAddress(address))] {
        #expect(symbolicator.frames(for: key, in: program.image()).map(\.isNamed) == [false])
      }
    }
  }

  @Test func onlyTheProgramsOwnModuleIsOmitted() throws {
    let program = try SharedProgram.swiftDebug.get()
    let key = FrameKey.exact(try program.address(of: "$s6sample6PollerC5start5every_ySi_SStF"))
    let named = Symbolicator(images: [], programModules: ["sample"]).frames(for: key, in: program.image())
    #expect(named.map(\.function) == ["Poller.start(every:_:)"])
    #expect(named[0].fullFunction == "sample.Poller.start(every: Swift.Int, _: Swift.String) -> ()")
    #expect(named[0].line == 5)
    let foreign = Symbolicator(images: []).frames(for: key, in: program.image())
    #expect(foreign.map(\.function) == ["sample.Poller.start(every:_:)"])
  }

  @Test func closuresAreNamedByTheirPlaceInTheSource() throws {
    let program = try SharedProgram.swiftDebug.get()
    let symbolicator = Symbolicator(images: [], programModules: ["sample"])
    let closure = try program.address(of: "$s6sample6PollerC5start5every_ySi_SStFyycfU_")
    let frames = symbolicator.frames(for: .exact(closure), in: program.image())
    #expect(frames.map(\.function) == ["closure #1 in Poller.start(every:_:)"])
    #expect(frames[0].kind == .user)
    let forwarder = try program.address(of: "$s6sample6PollerC5start5every_ySi_SStFyycfU_TA")
    #expect(symbolicator.frames(for: .exact(forwarder), in: program.image()).last?.kind == .thunk)
  }

  @Test func suspendedCallerHasItsResumeLineAndTheWholeFunctionsName() throws {
    let program = try SharedProgram.swiftDebug.get()
    let symbolicator = Symbolicator(images: [], programModules: ["sample"])
    let resume = try program.address(of: "$s6sample4workSiyYaFTQ0_")
    let frame = try #require(
      symbolicator.frames(for: FrameKey(address: resume, isExact: false, isAsync: true), in: program.image()).last)
    #expect(frame.function == "work()")
    #expect(frame.isAsync)
    #expect(frame.asyncPart == .afterAwait(index: 1))
    let lines = Programs.swift.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(frame.line == lines.firstIndex { $0.contains("await Task.yield()") }.map { $0 + 1 })
  }

  @Test func specializedLibraryCodeBelongsToTheSystem() throws {
    let program = try SharedProgram.swiftOptimised.get()
    let symbolicator = Symbolicator(images: [], programModules: ["sample"])
    let total = try program.address(of: "$sSa6sampleSiRszlE5totalSiyF").rawValue
    var kinds: [String: SourceFrame.Kind] = [:]
    for offset in 0..<64 as Range<UInt64> {
      for frame in symbolicator.frames(for: .exact(RuntimeAddress(total + offset)), in: program.image()) {
        kinds[frame.function] = frame.kind
      }
    }
    #expect(kinds["Array<A>.total()"] == .user)
    #expect(kinds["square(_:)"] == .user)
    #expect(kinds.contains { $0.key.hasPrefix("specialized Array.") && $0.value == .systemLibrary })
  }

  @Test func staticRuntimeAndStandardLibraryBelongToTheSystem() throws {
    let program = try SharedProgram.swiftStaticLibraries.get()
    let symbolicator = Symbolicator(images: [], programModules: ["sample"])
    for function in ["swift_allocObject", "swift_retain", "$sSS5countSivg", "dispatch_async"] {
      guard program.functions[function] != nil else { continue }
      let frames = symbolicator.frames(for: .exact(try program.address(of: function)), in: program.image())
      #expect(frames.last?.kind == .systemLibrary, "\(function)")
    }
    #expect(program.functions["swift_retain"] != nil)
    let own = symbolicator.frames(
      for: .exact(try program.address(of: "$sSa6sampleSiRszlE5totalSiyF")), in: program.image())
    #expect(own.last?.kind == .user)
  }

  @Test func platformLibrariesAreRecognizedByName() {
    let symbolicator = Symbolicator(images: [])
    func kind(_ path: String) -> SourceFrame.Kind {
      let image = LoadedImage(
        path: path, buildID: [1, 2, 3], loadBias: 0, range: RuntimeAddress(0)..<RuntimeAddress(100))
      return symbolicator.frames(for: .exact(RuntimeAddress(50)), in: image)[0].kind
    }
    for path in [
      "/nowhere/libswiftCore.so", "/nowhere/libFoundation.so", "/nowhere/libdispatch.so", "/nowhere/libc.so.6",
      "/nowhere/ld-linux-x86-64.so.2",
      "/nowhere/libstdc++.so.6", "/nowhere/libleaktrace.so", "[vdso]",
    ] {
      #expect(kind(path) == .systemLibrary, "\(path)")
    }
    for path in ["/nowhere/app", "/nowhere/libcart.so", "/nowhere/libcommon.so.1", "/nowhere/liquid"] {
      #expect(kind(path) == .user, "\(path)")
    }
  }

  @Test func fileLoadedTwiceIsReadOnce() throws {
    let program = try SharedProgram.cOptimised.get()
    let access = CountingFiles()
    let symbolicator = Symbolicator(images: [], access: access)
    var second = program.image()
    second.loadBias += 0x1000_0000
    let address = try program.address(of: "twice")
    let first = symbolicator.frames(for: .exact(address), in: program.image())
    #expect(symbolicator.frames(for: .exact(RuntimeAddress(address.rawValue + 0x1000_0000)), in: second) == first)
    #expect(access.opened[program.path] == 1)
  }

  final class CountingFiles: SymbolFileAccess {
    var opened: [String: Int] = [:]
    func contents(ofFile path: String) throws(SymbolFileError) -> SymbolFileContents? {
      opened[path, default: 0] += 1
      return try LocalSymbolFiles().contents(ofFile: path)
    }
  }
}

/// Files that have many paths.
@Suite struct ManyNamesTests {
  /// Counts how often files are opened.
  private final class CountingFiles: SymbolFileAccess {
    private let local = LocalSymbolFiles()
    private(set) var opened = 0

    func contents(ofFile path: String) throws(SymbolFileError) -> SymbolFileContents? {
      opened += 1
      return try local.contents(ofFile: path)
    }
    func canonicalPath(ofFile path: String) -> String { local.canonicalPath(ofFile: path) }
  }

  @Test func fileWithSeveralPathsIsReadOnce() throws {
    func images(_ count: Int) -> [LoadedImage] {
      (0..<count).map { index in
        LoadedImage(
          path: "/proc/self/" + String(repeating: "./", count: index) + "exe", buildID: [],
          loadBias: UInt64(index) << 32,
          range: RuntimeAddress(UInt64(index) << 32)..<RuntimeAddress(UInt64(index) << 32 + 1 << 20))
      }
    }
    func timesOpened(_ images: [LoadedImage]) -> Int {
      let access = CountingFiles()
      let symbolicator = Symbolicator(images: images, access: access)
      for image in images {
        _ = symbolicator.frames(
          for: FrameKey(address: RuntimeAddress(image.loadBias + 0x1000), isExact: true, isAsync: false), in: image)
      }
      _ = ImageContents(images, access: access)
      return access.opened
    }
    #expect(timesOpened(images(100)) == timesOpened(images(1)))
  }
}
