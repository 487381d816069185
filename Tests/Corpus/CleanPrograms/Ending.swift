// Objects that are just ending when the program does.
import Glibc

/// The deinitialiser of an archive writes to a slow disk while its entries still refer to it.
enum ClosingArchives: CleanProgram {
  private final class Archive {
    private var entries: [Entry] = []
    private let closing: UnsafeMutablePointer<sem_t>

    init(closing: UnsafeMutablePointer<sem_t>) {
      self.closing = closing
      for number in 0..<6 { entries.append(Entry(number, in: self)) }
    }

    deinit {
      sem_post(closing)
      // Until the process ends.
      for entry in entries { entry.write() }
    }
  }

  private final class Entry {
    private unowned let archive: Archive
    private let number: Int

    init(_ number: Int, in archive: Archive) {
      self.number = number
      self.archive = archive
    }

    @inline(never) func write() { while true { sleep(1) } }
  }

  static func correct() {
    for _ in 0..<2 { close() }
    settle()
  }

  @inline(never) private static func close() {
    let closing = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    sem_init(closing, 0, 0)
    var thread = pthread_t()
    pthread_create(&thread, nil, { closing in
      if let closing { ClosingArchives.write(closing.assumingMemoryBound(to: sem_t.self)) }
      return nil
    }, closing)
    while sem_wait(closing) != 0 {}
  }

  @inline(never) private static func write(_ closing: UnsafeMutablePointer<sem_t>) {
    let archive = Archive(closing: closing)
    use(archive)
  }
}

/// An actor whose last reference goes on another thread, while its members refer to it.
enum EndingActors: CleanProgram {
  private actor Coordinator {
    private var members: [Member] = []
    private let ending: UnsafeMutablePointer<sem_t>

    init(ending: UnsafeMutablePointer<sem_t>) { self.ending = ending }

    func start() -> Int {
      for number in 0..<4 { members.append(Member(number, of: self)) }
      return members.count
    }

    deinit {
      sem_post(ending)
      // Until the process ends.
      members[0].leave()
    }
  }

  private final class Member: Sendable {
    private unowned let coordinator: Coordinator
    private let number: Int

    init(_ number: Int, of coordinator: Coordinator) {
      self.number = number
      self.coordinator = coordinator
    }

    @inline(never) func leave() { while true { sleep(1) } }
  }

  static func correct() {
    nonisolated(unsafe) let ending = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    sem_init(ending, 0, 0)
    Task.detached { await coordinate(ending) }
    while sem_wait(ending) != 0 {}
    settle()
  }

  @inline(never) private static func coordinate(_ ending: sending UnsafeMutablePointer<sem_t>) async {
    let coordinator = Coordinator(ending: ending)
    note(await coordinator.start())
  }
}
