// The constants that decide which reachable objects are suspected.

/// Every constant that decides a suspicion. None is exact: each marks the point where a coincidence becomes too
/// unlikely. Each errs towards silence, since one false accusation costs more trust than ten found leaks gain.
/// docs/engineering/suspicion-constants.md lists, for each constant, the programs whose verdicts change with it.
package struct SurvivorRules: Sendable {
  /// The rules that commands use.
  package static let standard = SurvivorRules()

  /// Minimum number of points. A suspicion with fewer points is dropped. It is weak up to −1, and listed from 0.
  package var minPoints = -12
  package var points = RulePoints()

  // MARK: Where siblings end

  /// Minimum number of objects. Every program has a pair of exceptions that outlive their siblings.
  package var minOutlived = 3
  /// Minimum number of ended siblings, for their lives to say anything.
  package var minEnded: UInt64 = 4
  /// Minimum share of ended siblings among all siblings. If fewer ended, the survivors are the rule and not the
  /// exception.
  package var minEndedShare = 0.125
  /// Minimum age of a survivor, as a multiple of the longest life of a sibling. Lifetimes are known to a factor of two,
  /// and chance easily exceeds the longest of a few.
  package var ageFactor = 1.5
  /// Maximum share of the ended siblings that may live longer than the limit of ordinary lives. Most lives are ordinary:
  /// in a population whose members live for any time, no limit separates the survivors from those that ended.
  package var maxUnusualShare = 0.5
  /// Multiple of the longest sibling life, measured in work. For an older survivor, the age in seconds does not matter.
  /// No clock that expires objects runs that unevenly, but a thread may have to wait for a processor.
  package var workAloneFactor = 8.0
  /// Share of the ended siblings whose lifetimes in seconds may be longer than the limit. A busy machine stretches the
  /// lifetimes of all objects in use at that time. It does not stretch lifetimes in work, so these get no such
  /// allowance. If a clock expires objects, at least nine of ten live for about the same time.
  package var pausedShare = 0.1
  /// With at least this number of ended siblings, one sibling always gets this allowance, even if it exceeds
  /// `pausedShare`.
  package var minEndedForPause: UInt64 = 8
  /// Maximum share of survivors among all siblings, for the survivors to count as exceptions. In an order book, a sheet
  /// or a search, the share is larger, because the objects are meant to stay. Registrations are exempt: code that
  /// registers must unregister.
  package var maxShare = 0.2
  /// Minimum share of the survivors that must be older than siblings get, if the number of survivors grows steadily.
  package var minOldShare = 0.6
  /// Minimum number of births of other siblings during a median life, unless a dictionary holds the survivors. A loop
  /// drops each result that it does not keep before it makes the next one.
  package var minIntervalsLived = 0.7

  /// Minimum share of siblings that end within the scope that made them. With more exceptions, it means nothing that
  /// control has left the scope.
  package var scopedShare = 0.995
  /// Minimum share of siblings that were made after control had left the scope. With fewer, one call makes all
  /// siblings.
  package var minScopeChanges = 0.5
  /// Minimum number of younger siblings that must have ended. The newest object of its kind is in use, and not
  /// forgotten.
  package var minYoungerEnded = 2.0
  /// Maximum odds for a strong suspicion: the probability that so many siblings live so long by chance. It is one in a
  /// thousand, since a report tests some ten families.
  package var strongOdds = 1e-3
  /// `strongOdds` for a population that varies so much that its growth is hidden. Then only ages count.
  package var strongOddsByAgeAlone = 1e-6
  /// Largest useful ratio of the survivors' age to the age that siblings reach. Higher ratios add nothing.
  package var maxAgeRatio = 100.0

  /// Minimum number of siblings that ended within a scope, for a single object left over from the scope to be reported.
  package var minEndedInScope: UInt64 = 8
  /// Minimum share of the ended siblings that ended within that scope.
  package var minEndedInScopeShare = 0.95
  /// Share of the siblings that counts as typical.
  package var typicalShare = 0.9

  /// Minimum share of a structure's parts among all siblings made from its first part to its last. If more siblings
  /// were made in between, the code that made the parts did not build the structure alone.
  package var ownOfStructure = 0.5

  // MARK: How the population grows

  /// Parts of the span from the first birth to the last event of the family. Before `early`, the program warms up, and
  /// caches fill.
  package var early = 0.2...0.4
  package var late = 0.8...1.0
  /// Minimum growth of the population for each survivor made in between. It is 1 for a leak, and 0 if survivors take
  /// the places of others.
  package var minAdded = 0.5
  /// Minimum share of the survivors made in between. Objects made at the start fill a cache, a pool or a table.
  package var minMadeLater = 0.25

  /// Minimum number of births of other siblings during a median life, for something to have kept the siblings.
  package var keptIntervals = 2.0

  /// Minimum share of the survivors that must each have an owner of their own. Then the owners are reported instead.
  package var ownedShare = 0.9

  /// Maximum number of survivors that a possibly stale word holds, as a share of those held in the usual way. Up to
  /// this share, they are assumed to be held in the usual way as well.
  package var maxLeftOverShare = 0.25

  /// Minimum share of a larger group, held in another way, that must have been made before the first object of a group.
  /// Then the later group counts as the next generation: one or two stragglers make no difference.
  package var earlierGeneration = 0.9

  // MARK: Who holds them

  /// Minimum number of survivors that a node must lead to. Then the node counts as their holder, rather than the nodes
  /// behind it. Two survivors may belong to one entry of a registry.
  package var severalSurvivors = 3
  /// Maximum number of survivors that a list element leads to by itself, besides the next element. With more, it is a
  /// branch.
  package var ownOfLink = 2
  /// Maximum difference between the numbers of two kinds of survivors, as a share of the larger number. Up to this
  /// share, each object of one kind belongs to one of the other. An entry may have been made and not yet filled.
  package var evenShare = 0.1
  /// Minimum number of runs of a scope, so that objects left by the first one alone count as made once.
  package var minScopeRuns = 3

  /// Maximum share of the work since the first of a connection's objects that may separate it from the last, for the
  /// connection not to collect them.
  package var maxSpanOfPart = 0.5

  // MARK: What only grows

  /// Minimum share of a family's survivors that must be held in one way, for the family's growth to be the growth of
  /// this group. A smaller group may be a remainder of the others.
  package var minShareOfFamily = 0.5

  /// Minimum share of all work, or of all time, that was left when the first object was made. Objects made later are in
  /// use when the program ends.
  package var minRemainingWork = 0.2
  /// Minimum share of all events that threads other than the busiest must have, for a program to be concurrent. A queue
  /// has a producer and a consumer. The frontier of a search in one thread grows like a queue.
  package var minConcurrency = 0.01

  /// Minimum share of live objects among those made since the first survivor, for a family that ends in the order of
  /// births.
  package var minInOrder = 0.9
  /// Maximum share of live objects that are in use in such a family.
  package var maxUsedInQueue = 0.5
  /// Greatest distance below even growth for such a family.
  package var maxLagOfQueue = 0.2

  /// Minimum number of registrations that keep objects. A person may register something twice on purpose.
  package var minRegistered = 3
  /// `minRegistered` for tasks, if none has ended. Timers and observers stay until they are cancelled. A task is
  /// work, and some work is under way whenever a program ends. Where siblings end, at least so many objects of timers or
  /// tasks must be older than siblings get.
  package var minPendingTasks = 8
  /// Minimum share of a task's life for its present sleep to count as its first sleep. A task does only little work
  /// before its first wait.
  package var minFirstWait = 0.5
  /// Minimum share of the tasks outside a first sleep that must be asleep, for sleep to count as their normal state.
  package var minAsleep = 0.5
  /// Minimum share of the work since the first registration that must separate the first registration from the last.
  /// Registrations set up together at the start are meant to stay.
  package var minRegisteredSpread = 0.1
  /// Minimum number of tasks and threads that made the objects, for them to count as made by callbacks. A program's
  /// main function and the tasks that it awaits are fewer.
  package var minMakers = 4
  /// Minimum number of objects that callbacks, tasks or threads made, and the minimum for a strong suspicion. Between
  /// these numbers the suspicion is weak: the objects may each be the result of one piece of work.
  package var minCalledBack = 8
  package var strongCalledBack = 16
  /// Minimum time that an owner must have had an object, as a share of the median life of siblings.
  package var minOwnedSpan = 0.25
  /// Minimum number of threads that each hold an object. Pools with a thread for each processor are smaller.
  package var minThreads = 8
  /// Minimum number of objects that a loop made, and the minimum for a strong suspicion. A program that collects
  /// objects to report them has a few dozen.
  package var minLooped = 24
  package var strongLooped = 40
  /// Minimum share of the work since the first object that births must span, if callbacks make the objects, and if a
  /// loop does.
  package var minCalledBackSpread = 0.4
  package var minLoopedSpread = 0.7
  /// Minimum growth in each quarter to count as steady, as a share of the final number. Even growth adds a quarter of
  /// it. Tables of names and caches that level off grow by less in the end.
  package var minQuarter = 0.12
  /// `minQuarter` for families with some ended members. If a few members live long, the number of members approaches
  /// its level slowly.
  package var minQuarterOfQueue = 0.18
  /// Greatest distance of a steady curve above even growth, as a share of the instances. It is for a curve that has a
  /// quarter with less growth, since one pause does not clear a suspect. A curve that levels off lies higher.
  package var maxLead = 0.18
  /// Greatest distance of a steady curve below even growth. At a greater distance, most objects were made late.
  package var maxLag = 0.5
  /// Minimum share of the work since the first instance that must have passed without an end. Then siblings count as no
  /// longer ending.
  package var minUnendingSpan = 0.3
  /// Minimum number of objects for the rule that each quarter must have its share of the growth. Chance spreads fewer.
  package var minForQuarters = 16

  /// Minimum share of the objects that must hold one sibling each to be a chain. Then the minimum average number of the
  /// process's events between links, for a link to be the result of a piece of work. A loop that builds a list takes
  /// three or four events for each link.
  package var chainShare = 0.66
  package var minWorkOfLink = 5.0

  /// Minimum size of a collection that has just doubled its storage, as a multiple of its references' size.
  package var roomOfGrown = 1.5

  // MARK: Use

  /// Minimum share of the survivors used after their family's last event. From there on, they count as results that the
  /// program collected and then read.
  package var usedShare = 0.2
  /// Minimum share of the work that must follow that last event. A program that reads its results works on them for a
  /// while. A last pass over everything at shutdown is shorter.
  package var minUsePhase = 0.02
  /// Greatest distance of the survivors' births below even growth, for loops over all survivors to be no use. Animals
  /// in a world multiply, so their number grows late. Code that forgets objects forgets them all the time.
  package var maxLagOfLooped = 0.2
  /// Maximum share of survivors with other uses than such loops. With more, the program works with the survivors one by
  /// one, and chance decides which of them it needs.
  package var maxSingleShare = 0.5
  /// Minimum share of its siblings that must be made between a survivor's birth and a single use, for the use to show
  /// that the program goes back to old instances. An instance is often used for a while after its birth, as an entry of a
  /// cache is popular for a while.
  package var minSpanOfUse = 0.5
  /// Minimum number of age octaves that have a counted reference. They are between the ages that siblings reach and the
  /// last use. A use near those ages may be a late end of the ordinary use.
  package var minUseOctaves = 1
}
