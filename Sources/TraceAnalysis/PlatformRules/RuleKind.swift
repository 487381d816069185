// The kinds of facts about platforms and libraries that rules state.

/// A kind of fact. Its raw value is the first word of a rule in a file.
package enum RuleKind: String, CaseIterable, Sendable {
  // The owner of code.

  /// Code of the platform: a shared library, a Swift module, or a function that may be linked into the program.
  case platform
  /// A function that the Swift compiler generates in every program.
  case compiled
  /// The C library.
  case cLibrary = "c-library"
  /// The loader.
  case loader
  /// The common name of the library that code belongs to.
  case partOf = "part-of"
  /// A library that runs tests.
  case testLibrary = "test-library"

  // Calls.

  /// A function that allocates for its caller.
  case allocator
  /// Code in another language than Swift that makes objects or memory for its caller.
  case makesForCaller = "makes-for-caller"
  /// Swift code that makes objects or memory for its caller.
  case makesForCallerInSwift = "makes-for-caller-in-swift"
  /// Code that allocates memory that its library keeps forever in tables of its own.
  case keepsForItself = "keeps-for-itself"
  /// An exception to `keepsForItself`: the result belongs to the caller.
  case givesAway = "gives-away"
  /// A Swift function that returns a pointer to its caller, identified by its result type or by its whole name.
  case givesPointer = "gives-pointer"
  /// A function that calls code that the program passed to it.
  case callsProgram = "calls-program"
  /// A function that repeatedly calls code that others passed to it.
  case callsAgain = "calls-again"
  /// A function that suspends its task for a period of time.
  case sleeps
  /// A function that runs a run loop until it returns.
  case runsLoop = "runs-loop"
  /// A function that calls `main` for the program.
  case startsMain = "starts-main"
  /// A function that calls the initialiser of a variable, once.
  case runsOnce = "runs-once"

  // Memory.

  /// An image whose variables refer to blocks only by the address of their beginning. An address inside a block is no
  /// reference there.
  case keepsBeginnings = "keeps-beginnings"
  /// A function that allocates buffers of streams. The contents of such a buffer are no references.
  case streamBuffer = "stream-buffer"
  /// A function that allocates links of queues, which threads reuse.
  case queueLinks = "queue-links"
  /// A function that allocates tables of types, or a variable that holds such tables. They contain no references to
  /// objects.
  case typeRecords = "type-records"
  /// A class whose objects have only a lock after the stored properties.
  case lockBehind = "lock-behind"

  // Holders.

  /// An object that is registered until the program ends it, or a function that makes one.
  case registration
  /// A class of tokens: the program needs the token to end a registration. The registration itself has no reference to
  /// it.
  case token
  /// A class whose objects resume waiting tasks.
  case resumes
  /// Memory with work that a library is about to run, identified by its type or by the function that allocates it.
  case job
  /// A class whose objects have the open connections of a process.
  case connections
  /// A class of listening sockets. Connections that peers opened refer to one of its objects.
  case listener
  /// A stored property of a library class. It refers to the next or the previous element of a list that the library has.
  case link
  /// A library class whose objects the program creates as resources of its own: streams, locks, files. Objects of other
  /// library classes are values, or parts of something else.
  case resource
  /// A variable that holds timers, or a function that makes a source that is a timer.
  case timers
  /// A variable that leads to queued work, or code that keeps such work.
  case queue
  /// A variable that programmers know by another name.
  case knownAs = "known-as"
  /// Code that threads wait in.
  case waitsIn = "waits-in"
  /// A function that runs in threads of a pool, which serve any work.
  case poolThread = "pool-thread"
  /// A function that runs a job, such as a part of a task.
  case runsTasks = "runs-tasks"
  /// A function that blocks its thread.
  case blocks

  // Leaks.

  /// A type whose objects a library always leaks, with the reason.
  case leaked
  /// A type or field in cycles that the program must break in a certain way, with the advice.
  case cycle
}

extension RuleKind {
  /// The form of a rule's `says` line.
  enum Statement: Equatable {
    /// The rule has no such line.
    case none
    /// The line has words for a report.
    case text
    /// The line has one of these words.
    case one(of: Set<String>)
  }

  var statement: Statement {
    switch self {
    case .partOf, .knownAs, .leaked, .cycle: .text
    case .registration:
      .one(of: [
        "timer", "observer", "observation", "dispatchSource", "fileHandle", "dispatchWork", "eventLoop", "urlSession",
      ])
    case .waitsIn: .one(of: ["pool", "c-library", "runtime"])
    case .blocks: .one(of: ["lock", "semaphore", "dispatchSync", "join", "sleep", "timedWait", "input"])
    default: .none
    }
  }

  /// The subjects that rules of this kind are looked up by.
  var subjects: Set<RuleSubject> {
    switch self {
    case .platform, .partOf: [.image, .module, .symbol]
    case .cLibrary, .loader, .testLibrary, .keepsBeginnings: [.image]
    case .makesForCaller, .makesForCallerInSwift, .keepsForItself, .waitsIn: [.image, .symbol]
    case .queue: [.image, .symbol, .variable]
    case .compiled, .givesAway, .callsProgram, .runsLoop, .startsMain, .runsOnce, .streamBuffer, .queueLinks,
      .poolThread, .runsTasks, .blocks:
      [.symbol]
    case .typeRecords: [.symbol, .variable]
    case .allocator, .callsAgain: [.symbol, .function]
    case .sleeps: [.function]
    case .givesPointer: [.type, .function]
    case .registration, .job: [.type, .symbol]
    case .timers: [.variable, .function]
    case .knownAs: [.variable]
    case .connections, .listener, .lockBehind, .resource, .token, .resumes, .leaked: [.type]
    case .cycle: [.type, .field]
    case .link: [.field]
    }
  }
}
