// Registrations that a package makes for itself, and registrations that the program makes with the package's help.

import Testing
import TraceTestSupport

@testable import LeakDetection
@testable import TraceReading
@testable import TraceSymbolication
@testable import Wording

@Suite struct PackageRegistrationTests {
  private static let connect: UInt64 = 0x1000_1500
  private static let schedule: UInt64 = 0x1000_1510
  private static let fetch: UInt64 = 0x1000_1520

  /// Names the functions of a client whose connections have timers: the package's functions, and the program's calling
  /// function.
  private struct Client: FrameNaming {
    var remarks: [String] { [] }

    func frames(for key: FrameKey, in image: LoadedImage?) -> [SourceFrame] {
      let folder = "/srv/app/.build/checkouts/web-client/Sources/WebClient/"
      let (name, file): (String, String?) =
        switch key.address.rawValue {
        case connect: ("Client.connect()", folder + "Client.swift")
        case schedule: ("Connection.startTimer()", folder + "Connection.swift")
        case fetch: ("Importer.fetch()", "/srv/app/Sources/Importer/Importer.swift")
        default: (RequestServer.functions[key.address.rawValue] ?? "main()", "/srv/app/Sources/Importer/main.swift")
        }
      let isSystem = name.hasPrefix("system ")
      return [
        SourceFrame(
          function: name, fullFunction: name, mangledName: name,
          imagePath: isSystem ? "/lib/libFoundation.so" : "/srv/app/importer", file: isSystem ? nil : file, line: nil,
          column: nil, isInlined: false, kind: isSystem ? .systemLibrary : .user, isAsync: false, asyncPart: nil)
      ]
    }
  }

  private struct Setup {
    /// The function that makes connections, and the function that sets their timers.
    var maker = connect
    var registrar = schedule
    /// Whether each connection has a handler of the program.
    var hasHandler = false
  }

  /// Returns the findings about connections that an event loop keeps by a timer each.
  private func findings(_ setup: Setup) throws -> [Finding] {
    let server = RequestServer()
    let heap = server.heap
    heap.type("NIOPosix.SelectableEventLoop", fields: [HeapBuilder.field("_scheduledTasks", 0)])
    heap.type("Swift._ContiguousArrayStorage<NIOPosix.ScheduledTask>", fields: nil)
    heap.type("closure", kind: .closureContext, fields: nil)
    heap.type("WebClient.Connection", fields: [HeapBuilder.field("onData", 0)])
    heap.type("Importer.Handler")
    let loop = heap.object("NIOPosix.SelectableEventLoop", stack: [0x1000_1010])
    let list = heap.object("Swift._ContiguousArrayStorage<NIOPosix.ScheduledTask>", size: 4096, stack: [0x1000_1010])
    heap.global(loop)
    heap.set(loop, 0, list)
    for _ in 0..<6 {
      heap.visit(server.outer)
      heap.time += 10_000
      let stack = server.inner + [Self.fetch]
      let connection = heap.object("WebClient.Connection", stack: stack + [Self.connect, setup.maker])
      if setup.hasHandler { heap.set(connection, 0, heap.object("Importer.Handler", stack: stack)) }
      let callback = heap.object("closure", stack: stack + [setup.registrar])
      heap.set(callback, 0, connection)
      server.put(callback, in: list)
      heap.visit(server.outer)
    }
    return try heap.analysis(naming: Client()).findings().filter {
      $0.path.last?.qualifiedType == "WebClient.Connection"
    }
  }

  @Test func objectMadeAndRegisteredByAPackageBelongsToThePackage() throws {
    let findings = try findings(Setup())
    #expect(
      findings.count == 1 && findings[0].owner.reason == "made and registered by the package web-client for itself")
  }

  @Test func objectMadeByTheProgramBelongsToTheProgram() throws {
    let findings = try findings(Setup(maker: Self.fetch))
    #expect(findings.count == 1 && !findings[0].isLibrary)
  }

  @Test func objectRegisteredByTheProgramBelongsToTheProgram() throws {
    let findings = try findings(Setup(registrar: Self.fetch))
    #expect(findings.count == 1 && !findings[0].isLibrary)
  }

  @Test func registrationWithAProgramsHandlerBelongsToTheProgram() throws {
    let findings = try findings(Setup(hasHandler: true))
    #expect(findings.count == 1 && !findings[0].isLibrary)
  }
}
