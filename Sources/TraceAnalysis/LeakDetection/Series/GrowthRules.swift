// The constants that decide which growth curves are suspected.

/// What a curve must be like to be suspected. Each constant errs on the side of silence: a false suspicion costs ten
/// times a missed one.
package struct GrowthRules: Hashable, Sendable {
  /// Minimum number of images for any suspicion. If chance alone orders six values, one order in 720 only rises.
  package var leastImages = 6
  /// Minimum number of images for a strong suspicion: one order in 3.6 million only rises.
  package var strongImages = 10
  /// Numbers of parts to divide a curve of many images into. The lowest value of each part counts, so that short-lived
  /// objects do not. Twelve parts show where growth stopped. Six bridge objects that live longer.
  package var parts = [12, 6]
  /// Minimum increase in objects or elements. Fewer may have been made once, late.
  package var leastRise = 10.0
  /// Minimum growth from each part to the next, as a share of the average growth. Growth in steps pauses between two
  /// steps.
  package var leastShareOfPart = 0.35
  /// Minimum growth per time in the second half of the curve, as a share of the growth in the first. A cache that fills
  /// with random keys falls below it once it is two thirds full.
  package var leastLateGrowth = 0.6
  /// Minimum growth in the last quarter of the curve, as a share of the average, minus the Poisson noise of the
  /// expected growth. The growth is the median slope of the points (P. K. Sen, JASA 63 (1968)), so that a few outliers
  /// do not count. Objects that fill up late show it here and not in halves.
  package var leastLastGrowth = 0.5
  /// The last quarter's growth that counts as slow, as a share of the growth in the slowest earlier time of that
  /// length.
  package var mostOfSlowestGrowth = 0.45
  /// Minimum number of images for the last quarter to have enough points.
  package var leastImagesOfQuarters = 12
  /// Minimum growth, as a multiple of the variation within a part. Objects that are freed together now and then grow by
  /// once that variation.
  package var leastRiseOverSway = 2.0
  /// Minimum growth, as a multiple of the square root of the number. A number of independent things varies by its
  /// square root (Poisson). Few images need more.
  package var leastDeviations = 3.0
  package var leastDeviationsOfFew = 5.0
  /// With fewer images, the larger of the two counts.
  package var fewImages = 8
  /// Growth comes in steps if a larger share of the intervals has hardly any growth.
  package var mostStillIntervals = 0.5
  /// Growth up to this share of an interval's average counts as hardly any.
  package var stillShare = 0.25
  /// Minimum share of the objects of one image that must still exist in the next. Objects that are replaced are in use,
  /// and not kept.
  package var leastKept = 0.5
  /// Minimum share of the growth up to an earlier image that must be objects that still exist in the last one. Where
  /// more work is under way, there are more objects, and none of them stays.
  package var leastLasting = 0.5
  /// For a strong suspicion about objects that a library holds: the minimum share of the objects of one image that must
  /// still exist in the next. Work in a library's queue gets its turn.
  package var leastKeptByLibrary = 0.9
  /// If the number of holders grows, too: how many times more objects each holder may have before the growth exceeds
  /// the growth of the holders.
  package var mostForEachHolder = 1.25
  /// If only the last images are judged: the largest fall anywhere in the curve, as a share of their growth.
  package var mostFall = 0.3
  /// If only the last images are judged: their minimum growth per time, as a share of the growth before them. A cache
  /// that fills grows ever more slowly. The first quarter of the earlier time does not count, since programs warm up in
  /// it.
  package var leastGrowthOverEarlier = 0.8

  package init() {}
  package static let standard = GrowthRules()
}
