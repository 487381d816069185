// The numbers by which reachable objects are suspected.

/// Every constant that decides a suspicion. None is exact knowledge: each says from where on a coincidence is too
/// unlikely to be one, and errs towards silence, since one false accusation costs more trust than ten leaks found.
/// docs/suspicion-constants.md lists the programs whose verdicts change when one of them does.
package struct OutlivingRules: Sendable {
  /// Those that commands judge by.
  package static let standard = OutlivingRules()

  /// A suspicion with fewer points is dropped. From here to −1 it is weak. From 0 on it is listed.
  package var leastPoints = -12
  package var points = RulePoints()

  // MARK: Where siblings end

  /// Objects. Two that outlive their siblings are a pair of exceptions, as every program has.
  package var leastOutlived = 3
  /// Siblings that must have ended for their lives to say anything.
  package var leastEnded: UInt64 = 4
  /// Part of all siblings that must have ended. If fewer have, those that live on are the rule and not the exception.
  package var leastEndedShare = 0.125
  /// Times the longest life of a sibling. Lifetimes are known to a factor of two, and the longest of a few is easily
  /// exceeded by chance.
  package var ageFactor = 1.5
  /// Times the longest life of a sibling in work from which on its seconds do not matter: no clock that expires things
  /// runs that unevenly, but a thread may have to wait for a processor.
  package var workAloneFactor = 8.0
  /// Part of the ended siblings whose lifetimes in seconds may be longer: a busy machine stretches those of all that
  /// are in use just then. Lifetimes in work are not stretched, and get no such allowance. What expires by the clock
  /// expires after about the same time, nine of ten of them.
  package var pausedShare = 0.1
  /// Siblings that must have ended for one of them to get this allowance, however small a part it is.
  package var leastEndedForPause: UInt64 = 8
  /// Part of all siblings that may live on for those to be exceptions. If more do, as in an order book, a sheet or a
  /// search, to stay is what they are for.
  /// Registrations are excepted: who registers is to unregister.
  package var greatestShare = 0.2
  /// The part of a steadily growing number of survivors that must be older than siblings get.
  package var leastOldShare = 0.6
  /// Births of others that half of the siblings must live through, unless a dictionary has the survivors. A loop drops
  /// the others of its results before the next is made.
  package var leastIntervalsLived = 0.7

  /// Siblings that ended within the scope in which they were made, as a part of all. With more exceptions, to leave the
  /// scope is nothing special.
  package var scopedShare = 0.995
  /// Siblings between whose births control left the scope: at least this part, or else one call makes them all.
  package var leastScopeChanges = 0.5
  /// Younger siblings that must have ended. The last of its kind is not forgotten: it is the one in use.
  package var leastYoungerEnded = 2.0
  /// Odds that chance keeps so many siblings for so long, from which on a suspicion is strong. One in a thousand: a
  /// report has some ten families to try.
  package var strongOdds = 1e-3
  /// The same where the population's growth cannot be told from its ups and downs, so that ages alone speak.
  package var strongOddsByAgeAlone = 1e-6
  /// Times that survivors are older than their siblings got; beyond that it says no more.
  package var greatestAgeRatio = 100.0

  /// Siblings that must have ended, all of them within a scope, for a single one left of it to be told.
  package var leastEndedInScope: UInt64 = 8
  /// Part of those that ended which must have ended within the scope for that.
  package var leastEndedInScopeShare = 0.95
  /// Part of the siblings that is called typical.
  package var typicalShare = 0.9

  /// Part of all siblings made from the first part of a structure to the last that must be parts of it. With more made
  /// in between, whatever its parts were made for was not the structure alone.
  package var ownOfStructure = 0.5

  // MARK: How the population grows

  /// Parts of the span from the first birth to the last event of the family. The time before is warm-up: caches fill.
  package var early = 0.2...0.4
  package var late = 0.8...1.0
  /// Growth of the population for each survivor made between: 1 for a leak, 0 where survivors take the places of
  /// others.
  package var leastAdded = 0.5
  /// Part of the survivors that must have been made between. Objects made at the start fill a cache, a pool, a table.
  package var leastMadeLater = 0.25

  /// Births of others that a sibling lives through in the middle, for it to have been kept by something.
  package var keptIntervals = 2.0

  /// Part of the survivors that must be kept by an object of their own each, for these objects to be told instead.
  package var ownedShare = 0.9

  /// Survivors that a word which may be left over holds, as a part of those that are held in the usual way: so few are
  /// taken to be held like them.
  package var greatestLeftOverShare = 0.25

  /// Part of a larger group of survivors, held in another way, that must have been made before the first of a group for
  /// this to be the next generation: one or two stragglers make no difference.
  package var earlierGeneration = 0.9

  // MARK: Who holds them

  /// Survivors behind one node from which on that node holds them, rather than what is behind it: two may hang from one
  /// entry of a registry.
  package var severalSurvivors = 3
  /// Survivors that an element of a list may lead to by itself, beside the next element: with more it is a branch.
  package var ownOfLink = 2
  /// Part of the larger of two numbers of survivors by which they may differ, for each of one kind to go with one of
  /// the other: an entry may have been made and not yet filled.
  package var evenShare = 0.1
  /// Calls of a scope from which on what only the first of them left is taken for what is made once.
  package var leastExecutions = 3

  // MARK: What only grows

  /// Part of a family's survivors that must be held in one way for the family's growth to be theirs. Fewer stand for
  /// what the others leave over.
  package var leastShareOfFamily = 0.5

  /// Part of all work, or of all time, that must have been left when the first was made. Objects made later are in use
  /// when the program ends.
  package var leastRemainingWork = 0.2
  /// Part of all events that threads other than the busiest must have for a program to be concurrent: a queue has two
  /// ends. The frontier of a search in one thread only grows, too.
  package var leastConcurrency = 0.01

  /// Part of those made since the first survivor that must live for a family to have ended in the order of births.
  package var leastInOrder = 0.9
  /// Greatest distance below even growth for that.
  package var greatestLagOfQueue = 0.2

  /// Registrations that keep objects. A person may register something twice on purpose.
  package var leastRegistered = 3
  /// The same of tasks of which none has ended. Timers and observers stay until they are cancelled; a task is work, and
  /// some is under way whenever a program ends.
  package var leastPendingTasks = 8
  /// Part of a task's life that its present sleep must take up for it to be its first: until then it has done what
  /// little it does before it waits.
  package var leastFirstWait = 0.5
  /// Part of those in a later sleep, or in none, that must be in one for sleeping to be what all of them do.
  package var leastAsleep = 0.5
  /// Part of the work, since the first, in which registrations must have been made. Registrations set up together at
  /// the start are meant to stay.
  package var leastRegisteredSpread = 0.1
  /// Tasks and threads in which objects were made, from which on callbacks made them: a program's main function and the
  /// tasks that it waits for are fewer.
  package var leastStrands = 4
  /// Objects that callbacks, tasks or threads made. Below the first number there is nothing to tell, below the second
  /// the suspicion is weak: they may be the results of as many pieces of work.
  package var leastCalledBack = 8
  package var strongCalledBack = 40
  /// Part of the time that half of the siblings live. An owner must have had an object for so long.
  package var leastOwnedSpan = 0.25
  /// Threads that hold an object each. Pools of a thread for each processor are smaller.
  package var leastThreads = 8
  /// Objects that a loop made, and from how many on the suspicion is strong: a few dozen are what a program collects to
  /// report them.
  package var leastLooped = 24
  package var strongLooped = 40
  /// Part of the work since the first in which they were made: by callbacks, and by a loop.
  package var leastCalledBackSpread = 0.4
  package var leastLoopedSpread = 0.7
  /// Growth in each quarter that is steady, as a part of what there is in the end: a quarter would be even growth.
  /// Tables of names and caches that level off grow by less in the end.
  package var leastQuarter = 0.12
  /// `leastQuarter` for families where some end. With a few long lives, such a number approaches its level slowly.
  package var leastQuarterOfQueue = 0.18
  /// Greatest distance of a steady curve above even growth, as a part of the instances. It applies to a curve with a
  /// quarter of less growth: one pause excuses no growth. A curve that levels off lies higher.
  package var greatestLead = 0.18
  /// The same below even growth: most were made late.
  package var greatestLag = 0.5
  /// Part of the work since the first instance during which none has ended, for siblings to end no more.
  package var leastUnendingSpan = 0.3
  /// Objects from which on quarters are asked for. Fewer spread by chance.
  package var leastForQuarters = 16

  /// Part of the objects that must hold one sibling each, to be a chain; and events of the process between one link and
  /// the next, on average, that make a link the result of a piece of work. A loop that builds a list takes three or
  /// four for each.
  package var chainShare = 0.66
  package var leastWorkOfLink = 5.0

  /// Times the room that the references take up, from which on a collection has doubled a moment ago.
  package var roomOfGrown = 1.5

  // MARK: Use

  /// Part of the survivors that must have been used after the last was made, to be what the program collected and went
  /// through.
  package var usedShare = 0.2
  /// Part of the work that must lie behind the last of them for that: a program that reads its results works on them
  /// for a while. A last pass over all that is left when a program shuts down is shorter.
  package var leastUsePhase = 0.02
  /// Octaves of age, between those that siblings reach and the last use, in which a reference was counted: one may be a
  /// late end of the ordinary use.
  package var leastUseOctaves = 1
}
