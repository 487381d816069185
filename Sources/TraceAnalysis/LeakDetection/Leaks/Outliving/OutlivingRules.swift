// The constants that decide which reachable objects are suspected.

/// Every constant that decides a suspicion. None is exact: each marks the point where a coincidence becomes too
/// unlikely. Each errs towards silence, since one false accusation costs more trust than ten leaks found.
/// docs/engineering/suspicion-constants.md lists, for each constant, the programs whose verdicts change with it.
package struct OutlivingRules: Sendable {
  /// The rules that commands use.
  package static let standard = OutlivingRules()

  /// A suspicion with fewer points is dropped. It is weak up to −1, and listed from 0.
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
  /// Multiple of the longest sibling life, measured in work, beyond which the age in seconds no longer matters. No
  /// clock that expires objects runs that unevenly, but a thread may have to wait for a processor.
  package var workAloneFactor = 8.0
  /// Share of the ended siblings whose lifetimes in seconds may be longer. A busy machine stretches the lifetimes of
  /// all objects in use at that time. Lifetimes in work are not stretched and get no such allowance. A clock expires
  /// objects after about the same time, at least nine of ten of them.
  package var pausedShare = 0.1
  /// With at least this number of ended siblings, one always gets this allowance, even if it exceeds `pausedShare`.
  package var leastEndedForPause: UInt64 = 8
  /// Largest share of all siblings that may live on for these to count as exceptions. In an order book, a sheet or a
  /// search, more do, because the objects are meant to stay. Registrations are exempt: code that registers must
  /// unregister.
  package var greatestShare = 0.2
  /// Minimum share of a steadily growing number of survivors that must be older than siblings get.
  package var leastOldShare = 0.6
  /// Births of others that half of the siblings must live through, unless a dictionary holds the survivors. A loop
  /// drops each result that it does not keep before it makes the next.
  package var leastIntervalsLived = 0.7

  /// Minimum share of siblings that end within the scope that made them. With more exceptions, leaving the scope means
  /// nothing.
  package var scopedShare = 0.995
  /// Minimum share of births before which control left the scope. With fewer, one call makes all siblings.
  package var leastScopeChanges = 0.5
  /// Younger siblings that must have ended. The newest object of its kind is not forgotten: it is in use.
  package var leastYoungerEnded = 2.0
  /// Odds below which a suspicion is strong: the probability that chance keeps that number of siblings for that time.
  /// One in a thousand, since a report tests some ten families.
  package var strongOdds = 1e-3
  /// `strongOdds` for a population whose growth is hidden in its ups and downs, so that only ages count.
  package var strongOddsByAgeAlone = 1e-6
  /// Largest useful ratio of the survivors' age to the age that siblings reach. Higher ratios add nothing.
  package var greatestAgeRatio = 100.0

  /// Siblings that must have ended, all within a scope, before a single object left over from it is reported.
  package var leastEndedInScope: UInt64 = 8
  /// Share of the ended siblings that must have ended within the scope for that.
  package var leastEndedInScopeShare = 0.95
  /// Share of the siblings that is called typical.
  package var typicalShare = 0.9

  /// Share of all siblings made from the first part of a structure to the last that must be parts of it. If more were
  /// made in between, the code that made the parts did not build the structure alone.
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

  /// Minimum share of the survivors that must each be kept by an object of their own. These owners are then reported
  /// instead.
  package var ownedShare = 0.9

  /// Survivors that a possibly stale word holds, as a share of those held in the usual way. Up to this share, they are
  /// assumed to be held in the usual way as well.
  package var greatestLeftOverShare = 0.25

  /// Part of a larger group of survivors, held in another way, that must have been made before the first of a group for
  /// this to be the next generation: one or two stragglers make no difference.
  package var earlierGeneration = 0.9

  // MARK: Who holds them

  /// A node that leads to at least this number of survivors counts as their holder, rather than the nodes behind it.
  /// Two may belong to one entry of a registry.
  package var severalSurvivors = 3
  /// Survivors that a list element may lead to by itself, besides the next element. With more, it is a branch.
  package var ownOfLink = 2
  /// Largest difference between the numbers of two kinds of survivors, as a share of the larger, for each of one kind
  /// to belong to one of the other. An entry may have been made and not yet filled.
  package var evenShare = 0.1
  /// Minimum number of calls of a scope for objects left by the first call alone to count as made once.
  package var leastExecutions = 3

  // MARK: What only grows

  /// Minimum share of a family's survivors that must be held in one way for the family's growth to be theirs. A smaller
  /// group may be a remainder of the others.
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
  /// `leastRegistered` for tasks, if none has ended. Timers and observers stay until they are cancelled. A task is
  /// work, and some work is under way whenever a program ends.
  package var leastPendingTasks = 8
  /// Share of a task's life that its present sleep must take up to count as its first sleep. Before that, a task does
  /// only the little work that comes before its wait.
  package var leastFirstWait = 0.5
  /// Share of the tasks outside a first sleep that must be asleep for sleep to count as their normal state.
  package var leastAsleep = 0.5
  /// Minimum share of the work since the first registration over which registrations must be spread. Registrations set
  /// up together at the start are meant to stay.
  package var leastRegisteredSpread = 0.1
  /// Minimum number of tasks and threads that made the objects, for them to count as made by callbacks. A program's
  /// main function and the tasks that it awaits are fewer.
  package var leastStrands = 4
  /// Objects that callbacks, tasks or threads made. Below the first number nothing is reported. Below the second the
  /// suspicion is weak: the objects may each be the result of one piece of work.
  package var leastCalledBack = 8
  package var strongCalledBack = 40
  /// Share of the time that half of the siblings live. An owner must have had an object at least that long.
  package var leastOwnedSpan = 0.25
  /// Threads that hold an object each. Pools with a thread for each processor are smaller.
  package var leastThreads = 8
  /// Minimum number of objects that a loop made, and the minimum for a strong suspicion. A program that collects
  /// objects to report them has a few dozen.
  package var leastLooped = 24
  package var strongLooped = 40
  /// Minimum share of the work since the first object over which births must be spread: by callbacks, and by a loop.
  package var leastCalledBackSpread = 0.4
  package var leastLoopedSpread = 0.7
  /// Growth in each quarter that counts as steady, as a share of the final number. A quarter would be even growth.
  /// Tables of names and caches that level off grow by less in the end.
  package var leastQuarter = 0.12
  /// `leastQuarter` for families with some ended members. With a few long lives, their number approaches its level
  /// slowly.
  package var leastQuarterOfQueue = 0.18
  /// Greatest distance of a steady curve above even growth, as a share of the instances. It applies to a curve that has
  /// a quarter with less growth: one pause does not clear a suspect. A curve that levels off lies higher.
  package var greatestLead = 0.18
  /// `greatestLead` below even growth: most were made late.
  package var greatestLag = 0.5
  /// Minimum share of the work since the first instance during which none ended, for siblings to count as no longer
  /// ending.
  package var leastUnendingSpan = 0.3
  /// With at least this number of objects, each quarter must have its share of the growth. Fewer are spread by chance.
  package var leastForQuarters = 16

  /// Share of the objects that must hold one sibling each to be a chain. Then the minimum average number of the
  /// process's events between links, for a link to count as the result of a piece of work. A loop that builds a list
  /// takes three or four events for each link.
  package var chainShare = 0.66
  package var leastWorkOfLink = 5.0

  /// Minimum size of a collection that has just doubled its storage, as a multiple of its references' size.
  package var roomOfGrown = 1.5

  // MARK: Use

  /// Share of the survivors that must be used after their family's last event, to count as results that the program
  /// collected and then read.
  package var usedShare = 0.2
  /// Share of the work that must follow that last event. A program that reads its results works on them for a while. A
  /// last pass over everything at shutdown is shorter.
  package var leastUsePhase = 0.02
  /// Minimum number of age octaves with a counted reference, between the ages that siblings reach and the last use. A
  /// use near those ages may be a late end of the ordinary use.
  package var leastUseOctaves = 1
}
