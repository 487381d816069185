// Outcomes of the program's own statements: its scopes, expectations and generations.

/// A place in the program that made marks of one name.
package struct MarkPlace: Codable, Hashable, Sendable {
  package var name: String
  /// The source file in the compiler's form: `Module/File.swift`.
  package var file: String
  package var line: Int

  package init(name: String, file: String, line: Int) { (self.name, self.file, self.line) = (name, file, line) }
}

/// All runs of one marked scope.
package struct ScopeOutcome: Hashable, Sendable {
  package var place: MarkPlace
  /// `executions`: the runs of the scope that began. `open`: the runs that had not ended at the snapshot or the trace's
  /// end.
  package var executions: UInt64 = 0
  package var open: UInt64 = 0
  /// The number of Swift objects that were made in the scope.
  package var births: UInt64 = 0
  /// The number of runs that still had objects when their grace had passed.
  package var executionsWithRest: UInt64 = 0
  /// The blocks that were left when their run's grace had passed, up to a limit. `run`: its number, from 0.
  package var rest: [(block: LiveBlock, run: UInt64)] = []
  /// The grace, in ticks, that the scope's last end stated.
  package var grace: UInt64 = 0

  package static func == (a: Self, b: Self) -> Bool {
    a.place == b.place && a.executions == b.executions
      && a.rest.elementsEqual(b.rest) { $0.block == $1.block && $0.run == $1.run }
  }
  package func hash(into hasher: inout Hasher) { hasher.combine(place) }
}

/// All expectations that one place stated.
package struct ExpectationOutcome: Hashable, Sendable {
  package var place: MarkPlace
  /// Numbers of expectations by their outcome. `met`: the object was gone by its deadline. `late`: the object went
  /// after its deadline. `violated`: the deadline has passed and the object is still there. `undecided`: the deadline
  /// is after the trace's end or the snapshot.
  package var met: UInt64 = 0
  package var late: UInt64 = 0
  package var violated: UInt64 = 0
  package var undecided: UInt64 = 0
  /// The number of expectations whose outcome is unknown, because the trace lacks the object's allocation or may lack
  /// its end.
  package var unknown: UInt64 = 0
  /// The longest time from a deadline to an object's late end, in ticks.
  package var longestDelay: UInt64 = 0
  /// Objects that were still there at their deadline, up to a limit.
  package var rest: [Rest] = []

  package struct Rest: Hashable, Sendable {
    package var block: LiveBlock
    package var number: UInt64
    package var deadline: UInt64
    /// The time when the object went after its deadline; nil if it never went.
    package var end: UInt64?
  }
}

/// The start of a generation. Its objects are made from this mark to the next one.
package struct GenerationStart: Hashable, Sendable {
  package var place: MarkPlace
  /// Ticks.
  package var time: UInt64
}

/// The mark at the end of a round of work that the program repeats.
package struct RoundMark: Hashable, Sendable {
  /// The number of the repetition, which all its rounds share, and the place in the program that states the repetition.
  package var repetition: UInt64
  package var place: MarkPlace
  /// The number of the round in its repetition, from 1.
  package var round: Int
  /// The number of the heap image that was taken at the end of the round.
  package var snapshot: UInt32
  /// The number of the scope if the repetition counts only this scope's objects; 0 if it counts all objects.
  package var scope: UInt64
}

/// All statements of the program, and their outcomes.
package struct ProgramStatements: Sendable {
  package var scopes: [ScopeOutcome] = []
  package var expectations: [ExpectationOutcome] = []
  package var generations: [GenerationStart] = []
  /// The rounds of the whole trace. The other statements end at an image's moment, if one was chosen.
  package var rounds: [RoundMark] = []

  package init(
    scopes: [ScopeOutcome] = [], expectations: [ExpectationOutcome] = [], generations: [GenerationStart] = [],
    rounds: [RoundMark] = []
  ) {
    self.scopes = scopes
    self.expectations = expectations
    self.generations = generations
    self.rounds = rounds
  }
  package var isEmpty: Bool { scopes.isEmpty && expectations.isEmpty && generations.isEmpty }
}

/// Determines the outcomes of scopes and expectations during a replay.
///
/// A scope's objects are the ones that its thread or task makes between the scope's beginning and end. Objects that
/// other tasks make in that time also count, if those tasks were made in the scope. Memory is proportional to the
/// scopes that are open or in their grace, the live blocks made in these scopes, and the undecided expectations. A
/// program without marks pays one comparison for each event.
struct ProgramMarks: ReplayObserver {
  /// The most remaining objects that are listed for each place.
  private static let restLimit = 10_000

  private final class Scope {
    let place: Int
    let run: UInt64
    /// The next scope around this one; nil if there is none.
    let outer: Scope?
    /// The number of scopes around this one.
    let depth: Int
    /// The executions whose innermost scope is this one.
    var executionsInside: Set<UInt32> = []
    var live: [UInt64: LiveBlock] = [:]
    var isOpen = true
    /// True if objects that remain after the grace are reported. False for a scope that only selects objects: for a
    /// repetition, or for a test that reports only leaks.
    var isJudged = true
    init(place: Int, run: UInt64, outer: Scope?) {
      (self.place, self.run, self.outer) = (place, run, outer)
      depth = outer.map { $0.depth + 1 } ?? 0
    }
  }

  private struct Deadline: Comparable {
    var time: UInt64
    /// The number of scopes that ended before this one.
    var number: Int
    var scope: Scope
    static func < (a: Deadline, b: Deadline) -> Bool { (a.time, a.number) < (b.time, b.number) }
    static func == (a: Deadline, b: Deadline) -> Bool { (a.time, a.number) == (b.time, b.number) }
  }

  /// Scopes that are nested deeper than this are ignored. People name scopes by hand, so real programs do not nest them
  /// so deeply.
  private static let depthLimit = 64

  private final class State {
    var scopePlaces: [MarkPlace: Int] = [:]
    /// By the place's index in `statements.scopes`: the number of executions that are not judged.
    var unjudged: [Int: UInt64] = [:]
    var expectationPlaces: [MarkPlace: Int] = [:]
    var statements = ProgramStatements()
    /// The open scopes by their numbers, and the innermost open scope of each execution.
    var open: [UInt64: Scope] = [:]
    var innermost: [UInt32: Scope] = [:]
    /// By execution: the scope where the execution's task was made, or nil if the task was made in no scope. Executions that
    /// were not checked have no entry.
    var inherited: [UInt32: Scope?] = [:]
    /// By address of a live block: the innermost scope that was open when the block was made.
    var scopeOfBlock: [UInt64: Scope] = [:]
    /// Ended scopes whose grace has not passed.
    var waiting = PriorityQueue<Deadline>()
    var endCount = 0
    var nextDeadline = UInt64.max
    /// The number of births and deaths that may still be recorded in scopes around the innermost one. No real process
    /// reaches the limit. At 0, no scope is reported.
    var spareSteps: UInt64
    init(steps: UInt64) { spareSteps = steps }
    /// By address of a live block: the expectations of this block.
    var expected: [UInt64: [(place: Int, rest: ExpectationOutcome.Rest)]] = [:]
  }

  private let state: State
  private let marks: MarkTable
  private let activations: ActivationTracker
  private let end: UInt64
  private var isUsed = false

  init(
    _ marks: MarkTable, _ activations: ActivationTracker, until end: UInt64?,
    limits: ReadingLimits = ReadingLimits(fileSize: 0)
  ) {
    state = State(steps: limits.scopeSteps)
    self.marks = marks
    self.activations = activations
    self.end = end ?? .max
  }

  // MARK: Marks

  mutating func marked(_ event: TraceEvent, execution: ExecutionID, block: LiveBlock?) {
    let mark = marks.marks[Int(event.size)]
    if mark.kind == .round {
      // This mark comes after its image, so its time is not compared with the image's.
      state.statements.rounds.append(
        RoundMark(
          repetition: mark.number, place: place(of: mark), round: Int(mark.round), snapshot: mark.snapshot,
          scope: mark.scope))
      if let scope = state.open[mark.scope] { leaveUnjudged(scope) }
      return
    }
    // Only the activation tracker needs this mark, and it has already recorded the mark's stack.
    if mark.kind == .end { return }
    guard event.time <= end else { return }
    isUsed = true
    settle(upTo: event.time)
    switch mark.kind {
    case .scopeBegin: begin(mark, execution)
    case .scopeEnd: finish(mark, execution, at: event.time)
    case .generation: state.statements.generations.append(GenerationStart(place: place(of: mark), time: event.time))
    case .expectation: expect(mark, block)
    case .round, .end: break
    }
  }

  private func place(of mark: TraceMark) -> MarkPlace {
    MarkPlace(name: marks.text(mark.name), file: marks.text(mark.file), line: Int(mark.line))
  }

  private func begin(_ mark: TraceMark, _ execution: ExecutionID) {
    if state.spareSteps == 0 { return }
    let place = place(of: mark)
    let index =
      state.scopePlaces[place]
      ?? {
        state.statements.scopes.append(ScopeOutcome(place: place))
        state.scopePlaces[place] = state.statements.scopes.count - 1
        return state.statements.scopes.count - 1
      }()
    let scope = Scope(
      place: index, run: state.statements.scopes[index].executions, outer: current(execution))
    if scope.depth >= Self.depthLimit { return }
    state.statements.scopes[index].executions += 1
    state.statements.scopes[index].open += 1
    state.open[mark.number] = scope
    setInnermost(scope, of: execution.rawValue)
  }

  private func setInnermost(_ scope: Scope?, of execution: UInt32) {
    state.innermost[execution]?.executionsInside.remove(execution)
    state.innermost[execution] = scope
    scope?.executionsInside.insert(execution)
  }

  private func finish(_ mark: TraceMark, _ execution: ExecutionID, at time: UInt64) {
    guard let scope = state.open.removeValue(forKey: mark.number) else { return }
    scope.isOpen = false
    state.statements.scopes[scope.place].open -= 1
    state.statements.scopes[scope.place].grace = mark.grace
    // Overlapping scopes may end in any order. The ended scope's executions continue in the innermost open scope.
    let next = opened(scope.outer)
    for execution in scope.executionsInside { setInnermost(next, of: execution) }
    if mark.grace == .max { leaveUnjudged(scope) }
    if scope.live.isEmpty { return }
    let (deadline, overflow) = time.addingReportingOverflow(mark.grace)
    state.waiting.insert(Deadline(time: overflow ? .max : deadline, number: state.endCount, scope: scope))
    state.endCount += 1
    state.nextDeadline = state.waiting.first?.time ?? .max
  }

  private func leaveUnjudged(_ scope: Scope) {
    guard scope.isJudged else { return }
    scope.isJudged = false
    state.unjudged[scope.place, default: 0] += 1
  }

  private func expect(_ mark: TraceMark, _ block: LiveBlock?) {
    let place = place(of: mark)
    let index =
      state.expectationPlaces[place]
      ?? {
        state.statements.expectations.append(ExpectationOutcome(place: place))
        state.expectationPlaces[place] = state.statements.expectations.count - 1
        return state.statements.expectations.count - 1
      }()
    guard let block else {
      state.statements.expectations[index].unknown += 1
      return
    }
    state.expected[block.address, default: []].append(
      (index, ExpectationOutcome.Rest(block: block, number: mark.number, deadline: mark.deadline, end: nil)))
  }

  // MARK: Blocks

  /// Returns the innermost open scope of an execution: a scope that began on the execution, or else the scope where the
  /// execution's task was made.
  private func current(_ execution: ExecutionID) -> Scope? {
    if let own = state.innermost[execution.rawValue] { return own }
    if let known = state.inherited[execution.rawValue] { return opened(known) }
    let block = activations[execution].block
    let scope = block == 0 ? nil : state.scopeOfBlock[block]
    // A task that was made in no scope does not inherit one later, so the answer is kept.
    state.inherited[execution.rawValue] = .some(scope)
    return opened(scope)
  }

  private func opened(_ scope: Scope?) -> Scope? {
    var next = scope
    while let found = next, !found.isOpen { next = found.outer }
    return next
  }

  @inline(__always)
  mutating func blockAllocated(_ block: LiveBlock, by event: TraceEvent) {
    if isUsed { noteBirth(block, event) }
  }

  @inline(__always)
  mutating func blockAllocated(at block: UnsafePointer<LiveBlock>, by event: UnsafePointer<TraceEvent>) {
    if isUsed { noteBirth(block.pointee, event.pointee) }
  }

  @inline(never)
  private func noteBirth(_ block: LiveBlock, _ event: TraceEvent) {
    guard event.time <= end else { return }
    settle(upTo: event.time)
    guard !state.open.isEmpty, let innermost = current(block.execution) else { return }
    // Only Swift objects count as births. Blocks that the runtime and the C library allocate on first use are not what
    // people mean by a scope's objects.
    state.scopeOfBlock[block.address] = innermost
    guard event.operation == .object else { return }
    var next: Scope? = innermost
    while let scope = next {
      if scope !== innermost, !takeStep() { return }
      if scope.isOpen {
        scope.live[block.address] = block
        state.statements.scopes[scope.place].births += 1
      }
      next = scope.outer
    }
  }

  @inline(__always)
  mutating func blockFreed(_ block: LiveBlock, by event: TraceEvent) {
    if isUsed { noteDeath(block, event) }
  }

  @inline(__always)
  mutating func blockFreed(at block: UnsafePointer<LiveBlock>, by event: UnsafePointer<TraceEvent>) {
    if isUsed { noteDeath(block.pointee, event.pointee) }
  }

  @inline(never)
  private func noteDeath(_ block: LiveBlock, _ event: TraceEvent) {
    guard event.time <= end else { return }
    settle(upTo: event.time)
    if let innermost = state.scopeOfBlock.removeValue(forKey: block.address) {
      var next: Scope? = innermost
      while let scope = next {
        if scope !== innermost, !takeStep() { break }
        scope.live[block.address] = nil
        next = scope.outer
      }
    }
    guard let expected = state.expected.removeValue(forKey: block.address) else { return }
    for (place, var rest) in expected {
      if event.time <= rest.deadline {
        state.statements.expectations[place].met += 1
      } else if event.operation.effect != .free {
        // The free of the block was not recorded. This event is the next allocation at its address.
        state.statements.expectations[place].unknown += 1
      } else {
        state.statements.expectations[place].late += 1
        rest.end = event.time
        if state.statements.expectations[place].rest.count < Self.restLimit {
          state.statements.expectations[place].rest.append(rest)
        }
        let delay = event.time - rest.deadline
        if delay > state.statements.expectations[place].longestDelay {
          state.statements.expectations[place].longestDelay = delay
        }
      }
    }
  }

  /// Counts a step. If none is left, drops all scopes and returns false.
  private func takeStep() -> Bool {
    if state.spareSteps > 0 {
      state.spareSteps -= 1
      return true
    }
    while let first = state.waiting.first {
      state.waiting.removeFirst()
      first.scope.live = [:]
    }
    for scope in state.open.values { scope.live = [:] }
    (state.open, state.innermost, state.inherited, state.scopeOfBlock) = ([:], [:], [:], [:])
    state.nextDeadline = .max
    return false
  }

  mutating func blockRestored(_ block: LiveBlock, by event: TraceEvent) {}
  @inline(__always) mutating func referencesChanged(_ block: LiveBlock, by event: TraceEvent) {}
  @inline(__always) mutating func mismatched(_ mismatch: Mismatch, _ event: TraceEvent) {}

  /// Records the remaining objects of the scopes whose grace has passed.
  private func settle(upTo time: UInt64) {
    guard state.nextDeadline < time else { return }
    while let first = state.waiting.first, first.time < time {
      state.waiting.removeFirst()
      settle(first.scope)
    }
    state.nextDeadline = state.waiting.first?.time ?? .max
  }

  private func settle(_ scope: Scope) {
    guard !scope.live.isEmpty, scope.isJudged else { return }
    state.statements.scopes[scope.place].executionsWithRest += 1
    let room = Self.restLimit - state.statements.scopes[scope.place].rest.count
    for block in scope.live.values.sorted(by: { $0.ordinal < $1.ordinal }).prefix(max(0, room)) {
      state.statements.scopes[scope.place].rest.append((block, scope.run))
    }
    scope.live = [:]
  }

  // MARK: Results

  /// Returns the outcomes as of `time`, in ticks: the time of a snapshot, or of the trace's end. `isFinal`: the process
  /// ends at `time`, so the grace of all ended scopes is over.
  func statements(at time: UInt64, isFinal: Bool) -> ProgramStatements {
    while let first = state.waiting.first, isFinal || first.time < time {
      state.waiting.removeFirst()
      settle(first.scope)
    }
    state.waiting = PriorityQueue()
    state.nextDeadline = .max
    for (_, expected) in state.expected {
      for (place, rest) in expected {
        if rest.deadline > time {
          state.statements.expectations[place].undecided += 1
        } else {
          state.statements.expectations[place].violated += 1
          if state.statements.expectations[place].rest.count < Self.restLimit {
            state.statements.expectations[place].rest.append(rest)
          }
        }
      }
    }
    state.expected = [:]
    for index in state.statements.expectations.indices {
      state.statements.expectations[index].rest.sort { $0.number < $1.number }
    }
    var statements = state.statements
    if state.spareSteps == 0 { statements.scopes = [] }
    statements.scopes = statements.scopes.enumerated().filter { state.unjudged[$0.offset] != $0.element.executions }
      .map(\.element)
    return statements
  }
}
