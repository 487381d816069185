// The numbers by which reachable objects are suspected.

/// Every constant that decides a suspicion. None is exact knowledge: each says from where on a coincidence is too
/// unlikely to be one, and errs towards silence, since one false accusation costs more trust than ten leaks found.
enum OutlivingRules {
  // MARK: Where siblings end

  /// Objects. Two that outlive their siblings are a pair of exceptions, as every program has.
  static let leastOutlived = 3
  /// Siblings that must have ended for their lives to say anything.
  static let leastEnded: UInt64 = 4
  /// Part of all siblings that must have ended. If fewer have, those that live on are the rule and not the exception.
  static let leastEndedShare = 0.125
  /// Times the longest life of a sibling. Lifetimes are known to a factor of two, and the longest of a few is easily
  /// exceeded by chance.
  static let ageFactor = 1.5
  /// Times the longest life of a sibling in work from which on its seconds do not matter: no clock that expires things
  /// runs that unevenly, but a thread may have to wait for a processor.
  static let workAloneFactor = 8.0
  /// Part of the ended siblings whose lifetimes in seconds may be longer: a busy machine stretches those of all that
  /// are in use just then. Lifetimes in work are not stretched, and get no such allowance. What expires by the clock
  /// expires after about the same time, nine of ten of them.
  static let pausedShare = 0.1
  /// Part of all siblings that may live on for those to be exceptions. If more do, as in an order book, a sheet or a
  /// search, to stay is what they are for.
  /// Registrations are excepted: who registers is to unregister.
  static let greatestShare = 0.2
  /// Siblings that ended within the scope in which they were made, as a part of all. With more exceptions, to leave the
  /// scope is nothing special.
  static let scopedShare = 0.995
  /// Siblings between whose births control left the scope: at least this part, or else one call makes them all.
  static let leastScopeChanges = 0.5
  /// Younger siblings that must have ended. The last of its kind is not forgotten: it is the one in use.
  static let leastYoungerEnded = 2.0
  /// Odds that chance keeps so many siblings for so long, from which on a suspicion is strong. One in a thousand: a
  /// report has some ten families to try.
  static let strongOdds = 1e-3
  /// The same where the population's growth cannot be told from its ups and downs, so that ages alone speak.
  static let strongOddsByAgeAlone = 1e-6
  /// Times that survivors are older than their siblings got; beyond that it says no more.
  static let greatestAgeRatio = 100.0

  /// Siblings that must have ended, all of them within a scope, for a single one left of it to be told.
  static let leastEndedInScope: UInt64 = 8
  /// Part of those that ended which must have ended within the scope for that.
  static let leastEndedInScopeShare = 0.95
  /// Part of the siblings that is called typical.
  static let typicalShare = 0.9

  // MARK: How the population grows

  /// Parts of the span from the first birth to the last event of the family. The time before is warm-up: caches fill.
  static let early = 0.2...0.4
  static let late = 0.8...1.0
  /// Growth of the population for each survivor made between: 1 for a leak, 0 where survivors take the places of
  /// others.
  static let leastAdded = 0.5
  /// Part of the survivors that must have been made between. Objects made at the start fill a cache, a pool, a table.
  static let leastMadeLater = 0.25

  /// Births of others that a sibling lives through in the middle, for it to have been kept by something.
  static let keptIntervals = 2.0

  /// Part of the survivors that must be kept by an object of their own each, for these objects to be told instead.
  static let ownedShare = 0.9

  /// Survivors that a word which may be left over holds, as a part of those that are held in the usual way: so few are
  /// taken to be held like them.
  static let greatestLeftOverShare = 0.25

  /// Part of a larger group of survivors, held in another way, that must have been made before the first of a group for
  /// this to be the next generation: one or two stragglers make no difference.
  static let earlierGeneration = 0.9

  // MARK: Who holds them

  /// Survivors behind one node from which on that node holds them, rather than what is behind it: two may hang from one
  /// entry of a registry.
  static let severalSurvivors = 3
  /// Part of the larger of two numbers of survivors by which they may differ, for each of one kind to go with one of
  /// the other: an entry may have been made and not yet filled.
  static let evenShare = 0.1
  /// Calls of a scope from which on what only the first of them left is taken for what is made once.
  static let leastExecutions = 3

  // MARK: What only grows

  /// Part of a family's survivors that must be held in one way for the family's growth to be theirs. Fewer stand for
  /// what the others leave over.
  static let leastShareOfFamily = 0.5

  /// Part of all work, or of all time, that must have been left when the first was made. Objects made later are in use
  /// when the program ends.
  static let leastRemainingWork = 0.2
  /// Part of all events that threads other than the busiest must have for a program to be concurrent: a queue has two
  /// ends. The frontier of a search in one thread only grows, too.
  static let leastConcurrency = 0.01

  /// Registrations that keep objects. A person may register something twice on purpose.
  static let leastRegistered = 3
  /// The same of tasks of which none has ended. Timers and observers stay until they are cancelled; a task is work, and
  /// some is under way whenever a program ends.
  static let leastPendingTasks = 8
  /// Part of a task's life that its present sleep must take up for it to be its first: until then it has done what
  /// little it does before it waits.
  static let leastFirstWait = 0.5
  /// Part of those in a later sleep, or in none, that must be in one for sleeping to be what all of them do.
  static let leastAsleep = 0.5
  /// Part of the work, since the first, in which registrations must have been made. Registrations set up together at
  /// the start are meant to stay.
  static let leastRegisteredSpread = 0.1
  /// Tasks and threads in which objects were made, from which on callbacks made them: a program's main function and the
  /// tasks that it waits for are fewer.
  static let leastStrands = 4
  /// Objects that callbacks, tasks or threads made. Below the first number there is nothing to tell, below the second
  /// the suspicion is weak: they may be the results of as many pieces of work.
  static let leastCalledBack = 8
  static let strongCalledBack = 40
  /// Threads that hold an object each. Pools of a thread for each processor are smaller.
  static let leastThreads = 8
  /// Objects that a loop made, and from how many on the suspicion is strong: a few dozen are what a program collects to
  /// report them.
  static let leastLooped = 24
  static let strongLooped = 40
  /// Part of the work since the first in which they were made: by callbacks, and by a loop.
  static let leastCalledBackSpread = 0.4
  static let leastLoopedSpread = 0.7
  /// Growth in each quarter, as a part of what there is in the end: a quarter would be even growth. Tables of names and
  /// caches that level off grow by less in the end.
  static let leastQuarter = 0.12
  /// The same where some end: populations with a few long lives among them approach their level slowly.
  static let leastQuarterOfQueue = 0.18
  /// Objects from which on quarters are asked for. Fewer spread by chance.
  static let leastForQuarters = 16

  /// Part of the objects that must hold one sibling each, to be a chain; and events of the process between one link and
  /// the next, on average, that make a link the result of a piece of work. A list takes some three for each element.
  static let chainShare = 0.9
  static let leastWorkOfLink = 32.0

  /// Times the room that the references take up, from which on a collection has doubled a moment ago.
  static let roomOfGrown = 1.5

  // MARK: Use

  /// Part of the survivors that must have been used after the last was made, to be what the program collected and went
  /// through.
  static let usedShare = 0.2
  /// Part of the work that must lie behind the last of them for that: a program that reads its results works on them
  /// for a while. A last pass over all that is left when a program shuts down is shorter.
  static let leastUsePhase = 0.02
  /// Octaves of age, between those that siblings reach and the last use, in which a reference was counted: one may be a
  /// late end of the ordinary use.
  static let leastUseOctaves = 1
}
