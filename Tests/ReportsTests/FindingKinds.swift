// A finding of every kind for the golden files, with names as long as in real programs.

@testable import HeapAnalysis
@testable import LeakDetection
@testable import TraceReading
@testable import TraceSymbolication

enum FindingKinds {
  private static func frame(_ function: String, _ file: String, _ line: Int) -> SourceFrame {
    ExampleFindings.frame(function, "/src/Sources/Shop/" + file, line)
  }

  private static func reference(
    _ name: String, _ strength: EdgeStrength = .strong, capture: Bool = false, closure: SourceFrame? = nil,
    capturesSelf: Bool = false, caseName: String? = nil
  ) -> Finding.Reference {
    Finding.Reference(
      name: name, strength: strength, isClosure: closure != nil, isCapture: capture, capturesSelf: capturesSelf,
      closure: closure, caseName: caseName)
  }

  private static func step(
    _ type: String, _ kind: NodeKind = .object, in function: String, _ file: String, _ line: Int,
    _ reference: Finding.Reference? = nil
  ) -> Finding.Step {
    ExampleFindings.step(type, kind, allocation: frame(function, file, line), reference: reference)
  }

  private static func held(_ names: [(String, UInt64, UInt64)]) -> [Finding.HeldType] {
    names.map { Finding.HeldType(name: $0.0, count: $0.1, bytes: ByteCount($0.2)) }
  }

  static var retainCycle: Finding {
    let bind = frame(
      "closure #1 in CheckoutViewController.bindPaymentMethods(section:row:)", "CheckoutViewController.swift", 84)
    var finding = ExampleFindings.finding(
      .unreachable(.cycle, way: nil),
      [
        step(
          "CheckoutViewController", in: "CheckoutCoordinator.presentPaymentMethods(animated:)",
          "CheckoutCoordinator.swift", 41, reference("viewModel")),
        step(
          "CheckoutViewModel", in: "CheckoutViewController.init(basket:formatter:)", "CheckoutViewController.swift", 27,
          reference("observers")),
        step(
          "[ObjectIdentifier: Observer<PaymentMethodChange<LocalizedAmount>>]", .object,
          in: "CheckoutViewModel.observe(_:options:)", "CheckoutViewModel.swift", 112,
          reference("[value]", closure: bind)),
        ExampleFindings.step(
          "closure", .closure, function: bind,
          allocation: frame(
            "CheckoutViewController.bindPaymentMethods(section:row:)", "CheckoutViewController.swift", 83),
          reference: reference("self", capture: true)),
      ])
    finding.held.types = held([
      ("String storage", 158, 13_900), ("[PaymentMethodChange<LocalizedAmount>]", 78, 7_480), ("Basket", 1, 640),
      ("[Int]", 3, 480), ("UUID", 1, 48),
    ])
    finding.advice = [.sentence("Break it: capture self weakly in the closure at CheckoutViewController.swift:84.")]
    return finding
  }

  static var lostObject: Finding {
    var finding = ExampleFindings.finding(
      .unreachable(.lost(ReferenceCount(inline: 3)), way: nil),
      [step("AudioBuffer", in: "static PassRetained.play(_:)", "PassRetained.swift", 13)])
    finding.advice = [
      .sentence(
        "Look for a retain without a release: Unmanaged.passRetained or retain() without takeRetainedValue() or release()."
      )
    ]
    return finding
  }

  static var lostBlocks: Finding {
    var finding = ExampleFindings.finding(
      .unreachable(.lost(nil), way: nil), [step("malloc", .malloc, in: "decompressed(_:)", "Archive.swift", 210)])
    finding.places = [(9, "decompressed(_:)", 210), (2, "static ArchiveReader.entries(ofArchiveAt:matching:)", 88)].map
    { instances, function, line in
      Finding.Place(
        allocation: frame(function, "Archive.swift", line), stack: StackID(0), instances: instances,
        retainedBytes: ByteCount(4096), retainedBlocks: UInt64(instances),
        smallest: ByteCount(48), largest: ByteCount(4096))
    }
    return finding
  }

  static var deinitialised: Finding {
    var finding = ExampleFindings.finding(
      .deinitialised(nil),
      [
        step("Visitor", in: "static Museum.admit(_:)", "Museum.swift", 32, reference("room", .unowned)),
        step("ExhibitionRoom", in: "static Museum.open(_:)", "Museum.swift", 31),
      ])
    finding.advice = [
      .sentence(
        "The object is gone, and reading it through Visitor.room ends the program. Make that reference weak, or let the holder end before the object does."
      )
    ]
    return finding
  }

  static var suspended: Finding {
    let wait = frame("PermissionPrompt.ask(for:)", "PermissionPrompt.swift", 8)
    var finding = ExampleFindings.finding(
      .unreachable(.suspended(.alone(nil)), way: nil),
      [
        ExampleFindings.step(
          "Task", .task, function: wait,
          allocation: frame("SettingsScreen.requestPermissions()", "SettingsScreen.swift", 35))
      ])
    finding.advice = [
      .sentence(
        "Nothing is left that could resume the task at PermissionPrompt.swift:8: its continuation was dropped.")
    ]
    return finding
  }

  static var dangling: Finding {
    var ending = ExampleFindings.ending()
    ending.used = nil
    return ExampleFindings.finding(
      .dangling(ending),
      [step("SignUpField", in: "static SignUp.begin(clearing:)", "SignUp.swift", 33, reference("delegate", .unmanaged))]
    )
  }

  /// Returns sessions that a registry keeps.
  private static var survivors: Finding.Survivors {
    var survivors = ExampleFindings.survivors()
    survivors.retention.origin = PathOrigin(kind: .global, name: "static SessionRegistry.shared in gateway")
    survivors.retention.holder = "SessionRegistry.sessions"
    survivors.retention.suspect = 2
    return survivors
  }

  private static let strong = Finding.Suspicion(
    kind: .outlived,
    figures: .init(strength: .strong, chance: 1e-9, longestLifetime: 0.052, live: [58, 117, 163, 200]))

  private static let weak = Finding.Figures(
    strength: .weak, chance: nil, longestLifetime: nil, live: [250, 500, 750, 1000])

  static var outlived: Finding {
    ExampleFindings.finding(
      .suspected(strong, survivors),
      [
        step(
          "SessionRegistry", in: "one-time initialization function for shared", "SessionRegistry.swift", 9,
          reference("sessions")),
        step(
          "[SessionIdentifier: ClientSession<WebSocketTransport>]", .object, in: "SessionRegistry.register(_:)",
          "SessionRegistry.swift", 24, reference("[value]")),
        step(
          "ClientSession<WebSocketTransport>", in: "GatewayServer.accept(_:upgradingTo:)", "GatewayServer.swift", 118),
      ])
  }

  static var expected: Finding {
    var survivors = survivors
    survivors.retention.snapshot = 2
    let place = MarkPlace(name: "screen closed", file: "/src/Sources/Shop/Navigator.swift", line: 52)
    var finding = outlived
    finding.evidence = .stated(
      .expectation(.init(place: place, met: 40, late: 1, violated: 3, longestDelay: 0.4)), survivors)
    return finding
  }

  static var accumulating: Finding {
    var survivors = survivors
    survivors.siblings.deaths = 0
    var finding = outlived
    finding.evidence = .suspected(.init(kind: .accumulating, figures: weak), survivors)
    return finding
  }

  static var growing: Finding {
    let place = MarkPlace(name: "open screen", file: "/src/Sources/Shop/main.swift", line: 12)
    var finding = outlived
    finding.evidence = .repeated(
      .init(place: place, first: 3, measure: .objects, counts: [30, 40, 50, 60]), survivors.retention,
      survivors.siblings)
    return finding
  }

  /// A path that is deeper than the indentation goes, and a name that is too long for any line.
  static var deep: Finding {
    var path = (1...14).map {
      step("Layer\($0)", in: "Compositor.addSublayer(_:at:)", "Compositor.swift", 60, reference("sublayer"))
    }
    path.append(
      step(
        "DisplayList<Transformed<Clipped<Gradient<LinearInterpolation<Float>>>>, RenderingContext.PersistentStorage>",
        in: "Compositor.flatten()", "Compositor.swift", 99))
    var finding = outlived
    finding.path = path
    var survivors = survivors
    survivors.retention.suspect = 14
    finding.evidence = .suspected(strong, survivors)
    return finding
  }

  /// An object that a sleeping task keeps. The path begins at the timers of libdispatch.
  static var sleeping: Finding {
    let loop = frame("closure #1 in TickerScreen.viewDidAppear(animated:)", "TickerScreen.swift", 31)
    func library(_ type: String, _ kind: NodeKind, _ name: String) -> Finding.Step {
      var step = ExampleFindings.step(type, kind, reference: reference("", .conservative))
      step.library = name
      return step
    }
    var path = [
      library("malloc", .malloc, "libdispatch"), library("malloc", .malloc, "libdispatch"),
      ExampleFindings.step(
        "Task", .task, allocation: frame("TickerScreen.poll()", "TickerScreen.swift", 37),
        reference: reference("", .conservative)),
      ExampleFindings.step("closure", .closure, reference: reference("", .conservative, capture: true)),
      ExampleFindings.step(
        "Task", .task, function: frame("TickerScreen.poll()", "TickerScreen.swift", 37),
        allocation: frame("TickerScreen.viewDidAppear(animated:)", "TickerScreen.swift", 31),
        reference: reference("", .conservative)),
      library("closure", .closure, "the Swift runtime"),
      ExampleFindings.step(
        "closure", .closure, function: loop,
        allocation: frame("TickerScreen.viewDidAppear(animated:)", "TickerScreen.swift", 31),
        reference: reference("self", capture: true)),
    ]
    path.append(step("TickerScreen", in: "Navigator.show(_:)", "Navigator.swift", 64))
    var survivors = survivors
    survivors.siblings.deaths = 0
    survivors.retention.origin = PathOrigin(
      kind: .global, name: "libdispatch's timers (_dispatch_timers_heap in libdispatch.so)")
    survivors.retention.holder = "a task started in TickerScreen.viewDidAppear(animated:)"
    survivors.retention.registration = .task
    survivors.retention.suspect = path.count - 1
    var finding = outlived
    finding.path = path
    finding.evidence = .suspected(.init(kind: .outlived, figures: weak), survivors)
    return finding
  }

  static var library: Finding {
    var finding = lostObject
    finding.owner = .library(reason: "made inside Timer.init without a caller in the program")
    return finding
  }

  static let all: [(name: String, finding: Finding)] = [
    ("retain-cycle", retainCycle), ("lost-object", lostObject), ("lost-blocks", lostBlocks),
    ("deinitialised", deinitialised), ("suspended", suspended),
    ("dangling", dangling), ("used-after-end", ExampleFindings.usedAfterEnd()), ("outlived", outlived),
    ("expected", expected), ("accumulating", accumulating),
    ("growing", growing), ("sleeping", sleeping), ("deep", deep), ("library", library),
  ]
}
