// Objects that a program makes once, or replaces by a new one, and keeps until it ends.
import Foundation

final class GeoLookup: @unchecked Sendable {
  static let shared = GeoLookup()
  private let table: [Int: String]
  private init() { table = Dictionary(uniqueKeysWithValues: (0..<64).map { ($0, "region \($0)") }) }
  func region(_ address: Int) -> String { table[address % 64] ?? "" }
}

final class TemplateStore {
  let layout: String
  init() { layout = (0..<20).map { "<section id=\"part\($0)\">" }.joined(separator: "\n") }
}

final class MailService {
  lazy var templates = TemplateStore()
  private var sent = 0

  func send(_ number: Int) {
    sent += 1
    note(templates.layout.count + number)
  }
}

/// Singletons, and services that are made when they are first needed.
final class ServiceContainer {
  nonisolated(unsafe) static let shared = ServiceContainer()
  lazy var mail = MailService()
  private(set) lazy var greeting: () -> String = { "hello from \(GeoLookup.shared.region(3))" }
}

enum Services: CleanProgram {
  static func correct() { for number in 0..<200 { handle(number) } }

  @inline(never) private static func handle(_ number: Int) {
    note(GeoLookup.shared.region(number).count)
    if number > 20, number % 10 == 0 { ServiceContainer.shared.mail.send(number) }
    note(ServiceContainer.shared.greeting().count)
  }
}

final class ServerConfiguration: Sendable {
  let limits: [String: Int]
  let generation: Int

  init(generation: Int) {
    self.generation = generation
    limits = ["connections": 100 + generation, "requests": 1000 * generation, "bytes": 1 << 20]
  }
}

/// A configuration that is read again now and then: the new one replaces the former.
enum ConfigReload: CleanProgram {
  nonisolated(unsafe) private static var current = ServerConfiguration(generation: 0)

  static func correct() {
    for generation in 1...20 {
      current = ServerConfiguration(generation: generation)
      for number in 0..<10 { handle(number) }
    }
  }

  @inline(never) private static func handle(_ number: Int) { note(current.limits.count + current.generation + number) }
}

final class Measurement {
  let value: Int
  let text: String

  init(value: Int) {
    self.value = value
    text = "measured \(value) of 1000"
  }
}

/// The last measurement and the best so far: two of 400, and neither the newest alone.
enum LastAndBest: CleanProgram {
  nonisolated(unsafe) private static var last: Measurement?
  nonisolated(unsafe) private static var best: Measurement?

  static func correct() { for number in 0..<400 { measure(number &* 7919 % 1000) } }

  @inline(never) private static func measure(_ value: Int) {
    let measurement = Measurement(value: value)
    last = measurement
    if best.map({ $0.value < value }) ?? true { best = measurement }
    note(measurement.text.count)
  }
}

final class Heartbeat: @unchecked Sendable {
  private var beats = 0
  private var timer: Timer?

  func start() { timer = Timer.scheduledTimer(withTimeInterval: 0.005, repeats: true) { _ in self.beat() } }

  private func beat() {
    beats += 1
    note(beats)
  }
}

/// One timer for the whole run, started by an object that nothing else holds.
enum HeartbeatTimer: CleanProgram {
  static func correct() {
    start()
    for _ in 0..<12 { turnRunLoop(milliseconds: 10) }
    settle()
  }

  @inline(never) private static func start() { Heartbeat().start() }
}

final class MemoryWarnings: @unchecked Sendable {
  private var warnings = 0

  func observe() {
    _ = NotificationCenter.default.addObserver(forName: Notification.Name("memory warning"), object: nil, queue: nil) { _ in
      self.warnings += 1
      note(self.warnings)
    }
  }
}

/// One observer for the whole run, whose token is discarded.
enum StartObserver: CleanProgram {
  static func correct() {
    start()
    for _ in 0..<15 { NotificationCenter.default.post(name: Notification.Name("memory warning"), object: nil) }
  }

  @inline(never) private static func start() { MemoryWarnings().observe() }
}

final class WarehouseCall: @unchecked Sendable {
  private let number: Int
  private var timeout: DispatchWorkItem?
  init(number: Int) { self.number = number }

  func start(on queue: DispatchQueue) {
    let timeout = DispatchWorkItem { [weak self] in note(self?.number ?? -1) }
    self.timeout = timeout
    queue.asyncAfter(deadline: .now() + 3600, execute: timeout)
  }

  func finish() {
    timeout?.cancel()
    timeout = nil
  }
}

/// Each call has a timeout and cancels it. Dispatch keeps a cancelled block until it is due; the calls are gone.
enum CancelledTimeouts: CleanProgram {
  private static let queue = DispatchQueue(label: "warehouse")

  static func correct() {
    for number in 0..<60 { call(number) }
    settle()
  }

  @inline(never) private static func call(_ number: Int) {
    let call = WarehouseCall(number: number)
    call.start(on: queue)
    note(number)
    call.finish()
  }
}
