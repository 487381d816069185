// Objects that come and go, with a number of them alive at any time.
import Foundation

final class GameEntity {
  private(set) var health: Int
  private var trail: [Int] = []

  init(health: Int) { self.health = health }

  func advance() {
    health -= 1
    trail.append(health)
    if trail.count > 4 { trail.removeFirst() }
  }
}

/// A loop over frames: entities appear and die, up to a hundred of them at a time.
enum GameLoop: CleanProgram {
  nonisolated(unsafe) private static var entities: [GameEntity] = []

  static func correct() {
    for frame in 0..<300 { play(frame) }
    note(entities.count)
  }

  @inline(never) private static func play(_ frame: Int) {
    for number in 0..<(frame % 4) where entities.count < 100 { spawn(health: 20 + (frame &* 31 &+ number &* 17) % 60) }
    for entity in entities { entity.advance() }
    entities.removeAll { $0.health <= 0 }
  }

  @inline(never) private static func spawn(health: Int) { entities.append(GameEntity(health: health)) }
}

final class WorkParcel: @unchecked Sendable {
  let numbers: [Int]
  init(number: Int) { numbers = (0..<16).map { $0 &* number } }
}

/// A queue of at most ten, between a thread that makes and one that takes.
final class ParcelQueue: @unchecked Sendable {
  private let condition = NSCondition()
  private var parcels: [WorkParcel?] = []

  func put(_ parcel: WorkParcel?) {
    condition.withLock {
      while parcels.count >= 10 { condition.wait() }
      parcels.append(parcel)
      condition.broadcast()
    }
  }

  func take() -> WorkParcel? {
    condition.withLock {
      while parcels.isEmpty { condition.wait() }
      defer { condition.broadcast() }
      return parcels.removeFirst()
    }
  }
}

enum BoundedQueue: CleanProgram {
  private static let queue = ParcelQueue()

  static func correct() {
    let consumed = DispatchSemaphore(value: 0)
    let consumer = Thread {
      while let parcel = queue.take() { note(parcel.numbers.count) }
      consumed.signal()
    }
    consumer.start()
    for number in 0..<400 { queue.put(WorkParcel(number: number)) }
    queue.put(nil)
    consumed.wait()
    // Some are never taken: they wait when the program ends.
    for number in 0..<6 { queue.put(WorkParcel(number: number)) }
    usleep(10_000)
  }
}

final class ChatMember {
  let name: String
  private var unread: [String] = []

  init(name: String) { self.name = name }

  func receive(_ message: String) {
    unread.append(message)
    if unread.count > 5 { unread.removeFirst() }
  }
}

final class ChatRoomServer {
  private var members: [String: ChatMember] = [:]

  func join(_ name: String) {
    let member = ChatMember(name: name)
    members[name] = member
    note(member.name.count)
  }

  func leave(_ name: String) { members[name] = nil }
  func say(_ message: String) { for member in members.values { member.receive(message) } }
}

/// Ten members stay all day, five hundred look in.
enum ChatRoom: CleanProgram {
  nonisolated(unsafe) private static var server: ChatRoomServer?

  static func correct() {
    let server = ChatRoomServer()
    self.server = server
    var stayed = 0
    for number in 0..<500 {
      if number % 50 == 7 {
        server.join("regular \(stayed)")
        stayed += 1
      }
      visit(number, server)
    }
  }

  @inline(never) private static func visit(_ number: Int, _ server: ChatRoomServer) {
    let name = "guest \(number)"
    server.join(name)
    server.say("\(name) looked in")
    server.leave(name)
  }
}

final class ServedRequest: Sendable {
  let path: String
  init(path: String) { self.path = path }
}

actor AcceptLoop {
  private var accepted = 0
  private var answered = 0
  private var task: Task<Void, Never>?
  let (requests, incoming) = AsyncStream<String>.makeStream()

  /// Runs to the end of the program; each request is a child task that ends.
  func start() {
    task = Task {
      await withDiscardingTaskGroup { group in
        for await path in self.requests {
          self.accept()
          group.addTask { await self.answer(ServedRequest(path: path)) }
        }
      }
    }
  }

  var isIdle: Bool { accepted == 200 && answered == accepted }
  private func accept() { accepted += 1 }

  private func answer(_ request: ServedRequest) async {
    await Task.yield()
    answered += 1
    note(request.path.count)
  }
}

enum ServerLoop: AsyncCleanProgram {
  private static let loop = AcceptLoop()

  static func correct() async {
    await loop.start()
    for number in 0..<200 { loop.incoming.yield("/orders/\(number)") }
    while await !loop.isIdle { try? await Task.sleep(for: .milliseconds(1)) }
    try? await Task.sleep(for: .milliseconds(10))
  }
}

final class Lodger {
  let name: String
  private var letters: [String] = []
  private(set) var sent = 0

  init(name: String) { self.name = name }

  func write() -> String {
    sent += 1
    return "\(name): \(sent)"
  }
  func receive(_ letter: String) {
    letters.append(letter)
    if letters.count > 4 { letters.removeFirst() }
  }
}

/// A lodge: most lodgers leave soon, and some stay for good. Each letter goes to all lodgers, and any lodger writes.
enum LodgeLetters: CleanProgram {
  nonisolated(unsafe) private static var lodgers: [Int: Lodger] = [:]
  nonisolated(unsafe) private static var guests: [Int] = []
  nonisolated(unsafe) private static var residents: [Int] = []

  static func correct() {
    for day in 0..<500 { pass(day) }
    note(lodgers.count)
  }

  @inline(never) private static func pass(_ day: Int) {
    lodgers[day] = Lodger(name: "lodger \(day)")
    if day % 8 == 0 { residents.append(day) } else { guests.append(day) }
    if guests.count > 4 { lodgers[guests.removeFirst()] = nil }
    for turn in 0..<3 { send(from: residents[(day &* 37 &+ turn &* 101 &+ day / 7) % residents.count]) }
  }

  @inline(never) private static func send(from number: Int) {
    guard let letter = lodgers[number]?.write() else { return }
    for lodger in lodgers.values { lodger.receive(letter) }
  }
}

final class StoredParcel: Sendable {
  let number: Int

  init(number: Int) { self.number = number }
}

/// A warehouse is full when the day starts. Parcels arrive all day, and trucks take the oldest ones, which are more.
enum RestockedShelves: CleanProgram {
  nonisolated(unsafe) private static var warehouse = Warehouse(count: 900)

  final class Warehouse {
    private var shelves: [Int: [StoredParcel]] = [:]

    init(count: Int) {
      for number in 0..<count { shelves[number % 12, default: []].append(StoredParcel(number: number)) }
    }

    func store(_ parcel: StoredParcel) { shelves[parcel.number % 12, default: []].append(parcel) }

    func loadTruck(_ capacity: Int) -> Int {
      guard let (shelf, parcels) = shelves.max(by: { ($0.value.count, $0.key) < ($1.value.count, $1.key) }) else {
        return 0
      }
      shelves[shelf] = Array(parcels.dropFirst(capacity))
      return parcels.prefix(capacity).reduce(0) { $0 + $1.number }
    }
  }

  static func correct() {
    for hour in 0..<80 { work(hour) }
  }

  @inline(never) private static func work(_ hour: Int) {
    for number in 0..<3 { warehouse.store(StoredParcel(number: 10_000 + 3 * hour + number)) }
    if hour % 2 == 1 { note(warehouse.loadTruck(9)) }
  }
}
