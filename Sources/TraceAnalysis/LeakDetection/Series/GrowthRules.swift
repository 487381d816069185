// The constants of the judgement on a curve: from which growth on something is suspected.

/// What a curve must be like to be suspected. Each constant errs on the side of silence: a false suspicion costs ten
/// times a missed one.
package struct GrowthRules: Hashable, Sendable {
  /// Images from which on anything is suspected. Of six values that chance alone orders, one order in 720 only rises.
  package var leastImages = 6
  /// Images from which on a suspicion is strong: one order in 3.6 million only rises.
  package var strongImages = 10
  /// Parts that a curve of many images is divided into: the least value of each counts, so that what comes and goes
  /// within a part does not. Twelve show where growth stood still, six bridge more of what comes and goes.
  package var parts = [12, 6]
  /// Objects or elements that there must be more of. Fewer are as well made once, late.
  package var leastRise = 10.0
  /// Part of the average growth that there must be from each part to the next: what grows in steps stands still between
  /// two of them.
  package var leastShareOfPart = 0.35
  /// Growth per time in the second half of the curve, as a part of that in the first. A cache of random keys that
  /// fills falls below it once it is two thirds full.
  package var leastLateGrowth = 0.6
  /// Growth in the last quarter of the curve, as a part of the average, less what chance makes of so many (Poisson). It
  /// is the median slope of its points (P. K. Sen, JASA 63 (1968)), so that a few stray ones do not count. Something
  /// that fills up late shows it here and not in halves.
  package var leastLastGrowth = 0.5
  /// The same as a part of what the slowest time before that added.
  package var mostOfSlowestGrowth = 0.45
  /// Images from which on the last quarter has enough points.
  package var leastImagesOfQuarters = 12
  /// The growth, as a multiple of what comes and goes within a part. What is emptied now and then grows by once that.
  package var leastRiseOverSway = 2.0
  /// The growth, as a multiple of the square root of the number: that is how far a number of independent things sways
  /// (Poisson). Few images need more.
  package var leastDeviations = 3.0
  package var leastDeviationsOfFew = 5.0
  /// Images below which the larger of the two counts.
  package var fewImages = 8
  /// Where more than this part of the intervals have hardly any growth, it comes in steps.
  package var mostStillIntervals = 0.5
  /// The part of the average growth of an interval that is hardly any.
  package var stillShare = 0.25
  /// The part of the objects of one image that must be there in the next: what is replaced is in use, and not kept.
  package var leastKept = 0.5
  /// The part of the growth up to an earlier image that must consist of objects which are still there in the last one:
  /// where there is more to do, there is more under way, and none of it stays.
  package var leastLasting = 0.5
  /// The part of the objects of one image that must be there in the next if a library holds them, for a strong suspicion:
  /// work that waits in a queue of a library's has its turn.
  package var leastKeptByLibrary = 0.9
  /// How many times more of something there may be for each of its holders, whose number grows too, before it is more
  /// than what came with them.
  package var mostForEachHolder = 1.25
  /// The largest fall anywhere in the curve, as a part of the growth of its last images, where those alone are judged.
  package var mostFall = 0.3
  /// Growth per time of the last images, where those alone are judged, as a part of the growth before: what fills grows
  /// ever more slowly. The first quarter of the time before does not count, in which programs warm up.
  package var leastGrowthOverEarlier = 0.8

  package init() {}
  package static let standard = GrowthRules()
}
