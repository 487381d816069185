// Objects that a task, a timer, an observer or a task group keeps. No code can end the first of each pair. A comment says
// how code can end the second. The program prints that it is ready, and waits.

import Foundation

final class Poller: @unchecked Sendable {
  var rounds = 0

  func start() {
    Task {
      while !Task.isCancelled {
        self.rounds += 1
        try? await Task.sleep(for: .milliseconds(20))
      }
    }
  }
}

/// It has the handle itself, and only the task keeps it.
final class OwningPoller: @unchecked Sendable {
  var task: Task<Void, Never>?
  var rounds = 0

  func start() {
    task = Task {
      while !Task.isCancelled {
        self.rounds += 1
        try? await Task.sleep(for: .milliseconds(20))
      }
    }
  }

  func stop() { task?.cancel() }
}

/// It has the handle itself, and a registry has the object.
final class ListedPoller: @unchecked Sendable {
  var task: Task<Void, Never>?
  var rounds = 0

  func start(in registry: Registry) {
    task = Task {
      while !Task.isCancelled {
        self.rounds += 1
        try? await Task.sleep(for: .milliseconds(20))
      }
    }
    registry.pollers.append(self)
  }
}

/// Its task's handle is in a variable.
final class CancellablePoller: @unchecked Sendable {
  nonisolated(unsafe) static var tasks: [Task<Void, Never>] = []
  var rounds = 0

  func start() {
    Self.tasks.append(
      Task {
        while !Task.isCancelled {
          self.rounds += 1
          try? await Task.sleep(for: .milliseconds(20))
        }
      })
  }
}

/// Its task ends by itself.
final class EndingDelay: @unchecked Sendable {
  var isOver = false

  func start() {
    Task {
      try? await Task.sleep(for: .seconds(600))
      self.isOver = true
    }
  }
}

final class Meter: @unchecked Sendable {
  var timer: (any DispatchSourceTimer)?
  var count = 0

  func start() {
    let timer = DispatchSource.makeTimerSource(queue: .global())
    timer.schedule(deadline: .now(), repeating: 0.2)
    timer.setEventHandler { self.count += 1 }
    timer.resume()
    self.timer = timer
  }
}

/// Its timer is in a registry, too.
final class StoppableMeter: @unchecked Sendable {
  var count = 0

  func start(in registry: Registry) {
    let timer = DispatchSource.makeTimerSource(queue: .global())
    timer.schedule(deadline: .now(), repeating: 0.2)
    timer.setEventHandler { self.count += 1 }
    timer.resume()
    registry.timers.append(timer)
  }
}

final class Clock: @unchecked Sendable {
  var timer: Timer?
  var ticks = 0

  func start() { timer = Timer.scheduledTimer(withTimeInterval: 0.3, repeats: true) { _ in self.ticks += 1 } }
}

final class Listener: @unchecked Sendable {
  var calls = 0

  func start() {
    _ = NotificationCenter.default.addObserver(forName: .init("price"), object: nil, queue: nil) { _ in self.calls += 1 }
  }
}

/// A registry has the token of its observer.
final class RemovableListener: @unchecked Sendable {
  var calls = 0

  func start(in registry: Registry) {
    registry.tokens.append(
      registry.center.addObserver(forName: .init("news"), object: nil, queue: nil) { _ in
        self.calls += 1
      })
  }
}

final class Registry: @unchecked Sendable {
  var pollers: [ListedPoller] = []
  var timers: [any DispatchSourceTimer] = []
  var tokens: [any NSObjectProtocol] = []
  let center = NotificationCenter()
}

final class Receipt: Sendable {
  let number: Int
  init(_ number: Int) { self.number = number }
}

/// The group's results are read.
final class ReadReceipt: Sendable {
  let number: Int
  init(_ number: Int) { self.number = number }
}

func serveUnread() async {
  await withTaskGroup(of: Receipt.self) { group in
    for number in 0..<60 { group.addTask { Receipt(number) } }
    try? await Task.sleep(for: .seconds(600))
  }
}

func serveRead() async {
  var kept: [ReadReceipt] = []
  await withTaskGroup(of: ReadReceipt.self) { group in
    for number in 0..<60 { group.addTask { ReadReceipt(number) } }
    for await receipt in group where receipt.number < 3 { kept.append(receipt) }
    try? await Task.sleep(for: .seconds(600))
  }
  print(kept.count)
}

let registry = Registry()

func open() {
  for _ in 0..<9 {
    Poller().start()
    OwningPoller().start()
    ListedPoller().start(in: registry)
    CancellablePoller().start()
    EndingDelay().start()
  }
  for _ in 0..<12 {
    Meter().start()
    StoppableMeter().start(in: registry)
    Clock().start()
    Listener().start()
  }
  // An image does not show whose token a token is. The others must be more.
  for _ in 0..<6 { RemovableListener().start(in: registry) }
}

open()
Task { await serveUnread() }
Task { await serveRead() }
// The stack that the objects were made on is used again.
DispatchQueue.main.asyncAfter(deadline: .now() + 0.7) {
  print("ready \(ProcessInfo.processInfo.processIdentifier)")
  fflush(stdout)
}
RunLoop.main.run(until: Date().addingTimeInterval(120))
