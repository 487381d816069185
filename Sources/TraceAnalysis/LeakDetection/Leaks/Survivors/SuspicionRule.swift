// The rules that speak for or against a suspicion, by name.

import HeapAnalysis
import TraceReading
import TraceSymbolication

/// A rule of the judgement. Its raw value is its name in reports.
package enum SuspicionRule: String, CaseIterable, Sendable {
  // Rules about the candidate.
  case siblingsEnd = "siblings-end"
  case named
  case shape

  // Rules for families that have hardly any ended instances.
  case number
  case many
  case madeThroughout = "made-throughout"
  case madeBeforeTheEnd = "made-before-the-end"
  case growsSteadily = "grows-steadily"
  case evenGrowth = "even-growth"
  case unusedAtTheEnd = "unused-at-the-end"
  case usedBriefly = "used-briefly"
  case usedSingly = "used-singly"
  case madeByMain = "made-by-main"
  case olderThanAnyEnded = "older-than-any-ended"
  case chain

  // Rules for families whose siblings end.
  case olderThanSiblings = "older-than-siblings"
  case odds
  case independent
  case populationGrew = "population-grew"
  case minority
  case siblingsKept = "siblings-kept"
  case loopedOver = "looped-over"
  case queue
  case unending
  case concurrent
  case leftBehind = "left-behind"

  // Rules about the holder.
  case heldAlike = "held-alike"
  case heldBySibling = "held-by-sibling"
  case registered
  case knownHolder = "known-holder"
  case holderIsOlder = "holder-is-older"
  case holderUnused = "holder-unused"
  case noResult = "no-result"
  case referredTo = "referred-to"
  case madeToKeep = "made-to-keep"
  case swept
  case capturedByCallback = "captured-by-callback"
  case ownTasks = "own-tasks"
  case ownTimers = "own-timers"
  case letGo = "let-go"
  case cancelled
  case unread
  case moreThanAPool = "more-than-a-pool"
  case workUnderWay = "work-under-way"
  case openConnections = "open-connections"
  case youngerThanOthers = "younger-than-others"
  case keepsNothing = "keeps-nothing"
  case structure
  case keptElsewhere = "kept-elsewhere"
  case partOfAnotherFinding = "part-of-another-finding"

  /// Whether the rule judges only the instances that are held in one way.
  var isOfHolders: Bool {
    switch self {
    case .heldAlike, .heldBySibling, .registered, .knownHolder, .holderIsOlder, .holderUnused, .noResult,
      .referredTo, .madeToKeep, .swept, .capturedByCallback,
      .ownTasks, .ownTimers, .letGo, .cancelled, .unread, .moreThanAPool, .workUnderWay, .openConnections,
      .youngerThanOthers, .keepsNothing,
      .structure,
      .keptElsewhere, .partOfAnotherFinding:
      true
    default: false
    }
  }

  /// The reason for the rule, as a sentence.
  package var reason: String {
    switch self {
    case .siblingsEnd: "Where siblings end, a survivor is judged by their lives. Where none ends, growth is judged."
    case .shape: "A leak shows in the ages of its instances, or in their growth. Here neither does."
    case .named: "A finding needs an object, a closure or a task of the program to name."
    case .number: "A few instances may be what the program needs. Many are rarely needed."
    case .many: "A few dozen may be results that the program collects, or work under way."
    case .madeThroughout:
      "Instances from the start of the run are meant to stay. Instances from all of the run are not."
    case .madeBeforeTheEnd: "Work is under way when a program ends."
    case .growsSteadily: "A leak grows with the work. Caches and tables level off."
    case .evenGrowth: "The code that ends the others misses some of them, again and again."
    case .unusedAtTheEnd: "A program that reads all its objects at the end has collected them on purpose."
    case .usedBriefly: "A program that reads the remaining objects once may have kept them for that."
    case .usedSingly: "A program that goes back to single instances, however old, needs them."
    case .madeByMain: "The main function collects the results of the program."
    case .olderThanAnyEnded: "Instances that are no older than others got may be about to end."
    case .chain: "Instances that hold one another in a row are a list. It leaks if each piece of work adds a link."
    case .olderThanSiblings: "Chance does not keep many instances so much longer than their siblings."
    case .odds: "A report tries several families. In one report of a thousand, chance explains a finding."
    case .independent: "The parts of one structure live on together. They are one decision to keep."
    case .populationGrew: "A full cache keeps its number. Forgotten instances add up."
    case .minority: "Where most instances stay, they are meant to."
    case .siblingsKept: "Some code keeps siblings for a while, and lets them go."
    case .loopedOver: "A loop over all instances treats them like their siblings, and needs none of them by itself."
    case .queue: "A queue whose consumer is slower gets longer and longer."
    case .unending: "Siblings ended for a while, and then none did: the code that ends them has stopped."
    case .concurrent: "A queue has two ends: several threads, or callbacks."
    case .leftBehind: "Where siblings leave both of their collections, one that leaves only one is forgotten."
    case .heldAlike: "One cause holds its instances in one way."
    case .heldBySibling: "Trees and lists are made of instances that hold each other."
    case .registered: "A registration keeps the instances until the program ends it."
    case .knownHolder: "A holder is an object or a variable of the program. Other words may be left over."
    case .holderIsOlder: "A growing collection is older than its elements. A result is put together when all are there."
    case .holderUnused: "The program works with the objects that keep the instances."
    case .noResult:
      "A program that reads a collection once it is complete has collected the elements for that."
    case .referredTo: "Objects refer to the instances without owning them, so something must keep the instances."
    case .madeToKeep: "Objects of another class that never end keep the instances on purpose."
    case .swept: "A loop that reads a collection now and then uses no single element."
    case .capturedByCallback: "A closure that something keeps calls its objects back."
    case .ownTasks: "A task whose handle no other code has cannot be cancelled."
    case .ownTimers: "A timer or an observer that only its own object refers to cannot be ended by other code."
    case .letGo: "The program let go of the object. A task that only the object has goes on."
    case .cancelled: "The program cancelled the task, and the task goes on waiting."
    case .unread: "A task group keeps the result of each child until some code reads it."
    case .moreThanAPool: "The threads of a pool wait for work."
    case .workUnderWay: "A task in its first sleep ends when the sleep does."
    case .openConnections: "The peer of an open connection decides how long the connection lasts."
    case .youngerThanOthers: "Instances that are younger than a larger group may be on their way to it."
    case .keepsNothing: "Scheduled work that keeps no object of the program alive does no harm."
    case .structure: "A tree or a list that the program builds keeps the instances."
    case .keptElsewhere: "A variable of the program holds most of them as well."
    case .partOfAnotherFinding:
      "Another finding counts the holders of the instances, or the objects that the instances hold."
    }
  }
}

/// One candidate for a suspicion, with the effects of the rules on it.
package struct SuspicionAccount: Sendable {
  /// The effect of a rule on a suspicion.
  package enum Effect: String, Sendable {
    case supports, weakens, excludes
  }

  /// The effect of one rule on a candidate.
  package struct Entry: Sendable {
    package var rule: SuspicionRule
    package var effect: Effect
    /// The points that the rule adds to the sum.
    package var points = 0
    /// The figures that the rule used; empty if there are none.
    package var figures: String
    /// The number of holders that the entry is about.
    package var times = 1
  }

  /// The outcome of the judgement.
  package enum Outcome: String, Sendable {
    /// The sum of the points is not negative.
    case listed
    /// The sum is negative, but not below `SurvivorRules.minPoints`.
    case weak
    case excluded

    /// The position in the order of a report.
    var rank: Int {
      switch self {
      case .listed: 0
      case .weak: 1
      case .excluded: 2
      }
    }
  }

  /// The type without modules.
  package var type: String
  /// The program's line that made the instances; nil if it is not known.
  package var place: SourceFrame?
  package var live: Int
  package var births: UInt64
  package var bytes: ByteCount
  package var outcome: Outcome
  /// The sum of the points, for the holder with the largest sum; nil if a rule without points has excluded the
  /// candidate.
  package var points: Int?
  package var entries: [Entry]
}
