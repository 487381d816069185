// The constants that decide which growth curves are suspected of a leak.

/// The conditions that a curve must meet for a suspicion. Each constant is chosen to rather miss a leak than suspect
/// wrongly: a false suspicion costs ten times as much as a missed one.
package struct GrowthRules: Hashable, Sendable {
  /// Minimum number of heap images for any suspicion. By chance alone, six values are in ascending order once in 720
  /// times.
  package var minImages = 6
  /// Minimum number of heap images for a strong suspicion. By chance alone, ten values are in ascending order once in
  /// 3.6 million times.
  package var strongImages = 10
  /// Numbers of parts to divide a curve of many heap images into. Only the lowest value of each part counts, so
  /// short-lived objects are ignored. A division into twelve parts shows where growth stopped. A division into six
  /// parts also ignores objects that live somewhat longer.
  package var parts = [12, 6]
  /// Minimum increase in objects or elements. A smaller number may have been allocated once, late in the run.
  var minRise = 10.0
  /// Minimum growth from each part to the next, as a share of the average growth. Growth in steps does not reach it,
  /// because it pauses between two steps.
  var minShareOfPart = 0.35
  /// Minimum growth per time in the second half of the curve, as a share of the growth in the first half. A cache that
  /// fills with random keys falls below this share once it is two thirds full.
  var minLateGrowth = 0.6
  /// Minimum growth in the last quarter of the curve, as a share of the average, minus the Poisson noise of the
  /// expected growth. The growth is the median slope of the points (P. K. Sen, JASA 63 (1968)), so a few outliers do
  /// not count. If a cache fills up late, only the last quarter shows it.
  var minLastGrowth = 0.5
  /// The last quarter's growth counts as slow below this share of the growth in the slowest earlier range of equally
  /// many heap images.
  var maxOfSlowestGrowth = 0.45
  /// Minimum number of heap images for a last quarter with enough points.
  var minImagesOfQuarters = 12
  /// Minimum growth, as a multiple of the variation within a part. If objects are freed together from time to time,
  /// their number grows by just that variation.
  var minRiseOverSway = 2.0
  /// Minimum growth, as a multiple of the square root of the mean number. A number of independent objects varies by its
  /// square root (Poisson). For series of few heap images, `minDeviationsOfFew` applies.
  var minDeviations = 3.0
  var minDeviationsOfFew = 5.0
  /// With fewer heap images than this, `minDeviationsOfFew` applies.
  var fewImages = 8
  /// Maximum share of the intervals with hardly any growth. Above this share, growth counts as stepwise.
  var maxStillIntervals = 0.5
  /// Growth up to this share of an interval's average growth counts as hardly any growth.
  var stillShare = 0.25
  /// Minimum share of the objects of one heap image that must still exist in the next. Objects that are replaced by
  /// others are in use, not leaked.
  var minKept = 0.5
  /// Minimum number of an earlier heap image's objects that still exist in the last one, as a share of the growth up to
  /// the earlier one. If the growth is only more work in progress, there are more objects, but none of them lasts.
  var minLasting = 0.5
  /// Minimum share of the objects of one heap image that must still exist in the next, for a strong suspicion about
  /// objects that a library holds. Work in a library's queue leaves the queue when a thread runs it.
  var minKeptByLibrary = 0.9
  /// Applies if the number of holders also grows. Up to this factor, growth of the objects per holder is attributed to
  /// the holders.
  var maxForEachHolder = 1.25
  /// The largest decrease that is allowed anywhere in the curve, as a share of the growth of the last heap images.
  /// Applies if only the last heap images are judged.
  var maxFall = 0.3
  /// The earlier growth per time, multiplied by this factor, must not exceed the growth per time of the last heap
  /// images. Applies if only the last heap images are judged. A cache that fills grows ever more slowly. The first
  /// quarter of the earlier time does not count, because programs warm up then.
  var minGrowthOverEarlier = 0.8

  package init() {}
  package static let standard = GrowthRules()
}
