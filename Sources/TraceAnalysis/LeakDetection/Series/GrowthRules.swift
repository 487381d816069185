// The constants that decide which growth curves are suspected of a leak.

/// The conditions on a curve for a suspicion. Each constant errs on the side of silence: a false suspicion costs ten
/// times as much as a missed one.
package struct GrowthRules: Hashable, Sendable {
  /// Minimum number of images for any suspicion. By chance alone, six values are in ascending order once in 720 times.
  package var minImages = 6
  /// Minimum number of images for a strong suspicion. By chance alone, ten values are in ascending order once in 3.6
  /// million times.
  package var strongImages = 10
  /// Numbers of parts to divide a curve of many images into. The lowest value of each part counts, so that short-lived
  /// objects do not. A division into twelve parts shows where growth stopped; a division into six leaves out objects
  /// that live somewhat longer.
  package var parts = [12, 6]
  /// Minimum increase in objects or elements. A smaller number may have been allocated once, late in the run.
  var minRise = 10.0
  /// Minimum growth from each part to the next, as a share of the average growth. Growth in steps fails this, because
  /// it pauses between two steps.
  var minShareOfPart = 0.35
  /// Minimum growth per time in the second half of the curve, as a share of the growth in the first. A cache that fills
  /// with random keys falls below this share once it is two thirds full.
  var minLateGrowth = 0.6
  /// Minimum growth in the last quarter of the curve, as a share of the average, minus the Poisson noise of the
  /// expected growth. The growth is the median slope of the points (P. K. Sen, JASA 63 (1968)), so that a few outliers
  /// do not count. If a cache fills up late, only the last quarter shows it, not the second half.
  var minLastGrowth = 0.5
  /// The last quarter's growth counts as slow below this share of the growth in the slowest earlier run of as many
  /// images.
  var maxOfSlowestGrowth = 0.45
  /// Minimum number of images for the last quarter to have enough points.
  var minImagesOfQuarters = 12
  /// Minimum growth, as a multiple of the variation within a part. The number of objects that are freed together now
  /// and then grows by just that variation.
  var minRiseOverSway = 2.0
  /// Minimum growth, as a multiple of the square root of the mean number. A number of independent objects varies by its
  /// square root (Poisson). Series of few images need `minDeviationsOfFew`.
  var minDeviations = 3.0
  var minDeviationsOfFew = 5.0
  /// With fewer images, `minDeviationsOfFew` counts.
  var fewImages = 8
  /// Growth counts as stepwise if a larger share of the intervals has hardly any growth.
  var maxStillIntervals = 0.5
  /// Growth up to this share of an interval's average counts as hardly any.
  var stillShare = 0.25
  /// Minimum share of the objects of one image that must still exist in the next. Objects that are replaced by others
  /// are in use, not leaked.
  var minKept = 0.5
  /// Minimum number of an earlier image's objects that still exist in the last image, as a share of the growth up to
  /// the earlier image. If there is only more work under way, there are more objects, but none of them lasts.
  var minLasting = 0.5
  /// For a strong suspicion about objects that a library holds: the minimum share of the objects of one image that must
  /// still exist in the next. Work in a library's queue leaves the queue when its turn comes.
  var minKeptByLibrary = 0.9
  /// If the number of holders grows, too: the objects per holder may grow by this factor before the growth counts as
  /// more than the growth of the holders.
  var maxForEachHolder = 1.25
  /// If only the last images are judged: the largest fall that is allowed anywhere in the curve, as a share of the
  /// growth of the last images.
  var maxFall = 0.3
  /// If only the last images are judged: the growth per time before them, multiplied by this factor, must not exceed
  /// their own growth per time. A cache that fills grows ever more slowly. The first quarter of the earlier time does
  /// not count, because programs warm up then.
  var minGrowthOverEarlier = 0.8

  package init() {}
  package static let standard = GrowthRules()
}
