// The kinds of facts about platforms and libraries that rules state.

/// A kind of fact. Its raw value is the first word of a rule in a file.
package enum RuleKind: String, CaseIterable, Sendable {
  // The owner of code.

  /// Code of the platform, which no program wrote: a shared library, a Swift module, a function that may be linked into
  /// the program.
  case platform
  /// A function that the Swift compiler makes in every program.
  case compiled
  /// The C library.
  case cLibrary = "c-library"
  /// The loader.
  case loader
  /// The people's name of the library that code is of.
  case partOf = "part-of"
  /// A library that runs tests.
  case testLibrary = "test-library"

  // Calls.

  /// A function that allocates for its caller.
  case allocator
  /// Code that makes something for its caller, if it is not in Swift.
  case makesForCaller = "makes-for-caller"
  /// The same, in Swift.
  case makesForCallerInSwift = "makes-for-caller-in-swift"
  /// Code that makes what its library keeps for good in tables of its own.
  case keepsForItself = "keeps-for-itself"
  /// An exception to `keepsForItself`: the result is the caller's.
  case givesAway = "gives-away"
  /// A function of Swift that gives its caller a pointer: by the type of its result, or by its whole name.
  case givesPointer = "gives-pointer"
  /// A function that calls code that the program passed to it.
  case callsProgram = "calls-program"
  /// A function that repeatedly calls code that others passed to it.
  case callsAgain = "calls-again"
  /// A function that suspends its task for a time.
  case sleeps
  /// A function in whose calls a thread runs a run loop.
  case runsLoop = "runs-loop"
  /// A function that calls `main` for the program.
  case startsMain = "starts-main"
  /// A function that calls the initialiser of a variable, once.
  case runsOnce = "runs-once"

  // Memory.

  /// An image that keeps addresses of blocks' beginnings alone: an address inside a block means nothing there.
  case keepsBeginnings = "keeps-beginnings"
  /// A function that allocates buffers of streams: their contents are no references.
  case streamBuffer = "stream-buffer"
  /// A function that allocates links of queues, which threads use again and again.
  case queueLinks = "queue-links"
  /// A function that allocates tables of types, or a variable that holds them: no reference in them leads to an object.
  case typeRecords = "type-records"
  /// A class that has a lock behind its stored properties, and nothing else.
  case lockBehind = "lock-behind"

  // Holders.

  /// An object that is registered until the program ends it, or a function that makes one.
  case registration
  /// A class whose objects code needs to end registrations. A registration does not lead to them.
  case token
  /// A class whose objects resume tasks that wait.
  case resumes
  /// Memory with work that a library is about to run: by its type, or by the function that allocates it.
  case job
  /// A class of a library each of whose objects is something of the program's: a stream, a lock, a file. Other objects
  /// of libraries are values, or parts of something else.
  case resource
  /// A variable, or a function in a stack, of timers that wait for their time.
  case timers
  /// A variable that leads to queued work, or code that keeps such work.
  case queue
  /// A variable that people know by another name.
  case knownAs = "known-as"
  /// Code that threads wait in.
  case waitsIn = "waits-in"
  /// A function of threads that serve any work.
  case poolThread = "pool-thread"

  // Leaks.

  /// A type whose objects a library leaks whatever the program does, with the reason.
  case leaked
  /// A type or field that is part of cycles which the program must break in a certain way, with the advice.
  case cycle
}

extension RuleKind {
  /// The meaning of a rule's `says`.
  enum Statement: Equatable {
    /// The rule has none.
    case none
    /// Words for a report.
    case text
    /// One of these.
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
      .poolThread:
      [.symbol]
    case .typeRecords: [.symbol, .variable]
    case .allocator, .callsAgain: [.symbol, .function]
    case .sleeps: [.function]
    case .givesPointer: [.type, .function]
    case .registration, .job: [.type, .symbol]
    case .timers: [.variable, .function]
    case .knownAs: [.variable]
    case .lockBehind, .resource, .token, .resumes, .leaked: [.type]
    case .cycle: [.type, .field]
    }
  }
}
