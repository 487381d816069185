// Decides whether a number grows like a leak from one heap image to the next.

/// A number, such as a count of objects, in each heap image of a series.
package struct GrowthCurve: Hashable, Sendable {
  /// The times of the heap images in seconds, in ascending order.
  package var times: [Double]
  /// One number for each time.
  package var values: [Double]
  /// The share of the previous heap image's objects that still exist, for each heap image; nil if unknown.
  package var kept: [Double?]

  package init(times: [Double], values: [Double], kept: [Double?] = []) {
    precondition(times.count == values.count, "a value for each time")
    (self.times, self.values) = (times, values)
    self.kept = kept.count == times.count ? kept : times.map { _ in nil }
  }

  /// The reason why growth is not suspected.
  package enum Innocence: String, Codable, Hashable, Sendable {
    /// There are too few heap images.
    case tooFewImages
    /// The number grew too little to matter, or not at all.
    case hardlyGrows
    /// Growth slowed down or stopped.
    case levelsOff
    /// The number rose at some times and stayed the same at others.
    case inSteps
    /// The number decreases from time to time.
    case fallsBack
    /// The growth is not larger than the normal variation.
    case sways
    /// The objects are replaced by others.
    case turnsOver
    /// The number of holders grew in the same proportion.
    case growsWithHolder
  }

  package enum Judgement: Hashable, Sendable {
    case innocent(Innocence)
    case suspect(GrowthSuspicion)
  }

  /// Judges the curve. O(images · log images).
  package func judged(by rules: GrowthRules = .standard) -> Judgement {
    guard values.count >= rules.minImages else { return .innocent(.tooFewImages) }
    var reason: Innocence?
    // Judge the whole curve, then its later half, then its last quarter, and so on. Growth that began late is visible
    // only in the last heap images.
    var start = 0
    while values.count - start >= rules.minImages {
      for parts in Self.divisions(values.count - start, rules) {
        switch judge(from: start, parts: parts, rules) {
        case .suspect(let found): return .suspect(found)
        case .innocent(let why): if start == 0 { reason = why }
        }
      }
      start += max(1, (values.count - start) / 2)
    }
    return .innocent(reason ?? .hardlyGrows)
  }

  private static func divisions(_ count: Int, _ rules: GrowthRules) -> [Int] {
    var divisions: [Int] = []
    for parts in rules.parts.map({ min($0, count) }) where !divisions.contains(parts) { divisions.append(parts) }
    return divisions
  }

  // MARK: One division

  private func judge(from start: Int, parts: Int, _ rules: GrowthRules) -> Judgement {
    let count = values.count - start
    var marks: [GrowthSuspicion.Mark] = []
    var ranges: [Range<Int>] = []
    for part in 0..<parts {
      let range = start + part * count / parts..<start + (part + 1) * count / parts
      let least = range.map { values[$0] }.min() ?? 0
      marks.append(.init(time: (times[range.lowerBound] + times[range.upperBound - 1]) / 2, value: least))
      ranges.append(range)
    }
    let rise = marks[parts - 1].value - marks[0].value
    let time = marks[parts - 1].time - marks[0].time
    guard rise >= rules.minRise, time > 0 else {
      let fell = (values[start...].max() ?? 0) - values[values.count - 1] > max(rise, 0) + rules.minRise
      return .innocent(fell ? .fallsBack : .hardlyGrows)
    }
    let rates = zip(marks, marks.dropFirst()).map {
      ($1.value - $0.value) / max($1.time - $0.time, .leastNormalMagnitude)
    }
    let average = rise / time
    if let still = rates.lastIndex(where: { $0 < rules.minShareOfPart * average }) {
      if rates[still] < 0 { return .innocent(.fallsBack) }
      return .innocent(still == rates.count - 1 ? .levelsOff : .inSteps)
    }
    let half = rates.count / 2
    let early = (marks[half].value - marks[0].value) / (marks[half].time - marks[0].time)
    let late =
      (marks[parts - 1].value - marks[parts - 1 - half].value) / (marks[parts - 1].time - marks[parts - 1 - half].time)
    if late < rules.minLateGrowth * early { return .innocent(.levelsOff) }
    if count >= rules.minImagesOfQuarters, slowsDownLate(from: values.count - max(4, count / 4), average, rules) {
      return .innocent(.levelsOff)
    }

    if rise < rules.minRiseOverSway * sway(in: ranges, average) { return .innocent(.sways) }
    let mean = marks.reduce(0) { $0 + $1.value } / Double(parts)
    let deviations = count < rules.fewImages ? rules.minDeviationsOfFew : rules.minDeviations
    if rise < deviations * mean.squareRoot() { return .innocent(.sways) }
    if parts < count, stillShare(from: start, average, rules) > rules.maxStillIntervals { return .innocent(.inSteps) }
    let keptShares = kept[(start + 1)...].compactMap(\.self).sorted()
    if !keptShares.isEmpty, keptShares[keptShares.count / 2] < rules.minKept { return .innocent(.turnsOver) }
    if start > 0, let reason = contradiction(before: start, marks, rise, average, rules) { return .innocent(reason) }
    return .suspect(
      GrowthSuspicion(
        isStrong: count >= rules.strongImages, images: count, rise: rise, perSecond: average, lateShare: late / early,
        marks: marks))
  }

  /// Returns whether growth has slowed down since the heap image `start`. The slope from there must be clearly below
  /// the average. It must also be clearly below the slope of each earlier range of equally many images. So a slow night
  /// or weekend at the end does not count if an earlier one was as slow.
  private func slowsDownLate(from start: Int, _ average: Double, _ rules: GrowthRules) -> Bool {
    let time = times[times.count - 1] - times[start]
    let expected = average * time
    let slope = medianSlope(start..<values.count)
    guard slope * time < rules.minLastGrowth * expected - expected.squareRoot() else { return false }
    // Leave out the beginning: programs warm up then, and some parts of them warm up slowly.
    let count = values.count - start
    return stride(from: values.count / 4, through: start - count, by: max(1, count / 8)).allSatisfy {
      slope < rules.maxOfSlowestGrowth * medianSlope($0..<$0 + count)
    }
  }

  /// Returns the median of the slopes between all pairs of points. There must be at least two points. O(points²), so
  /// call this only for a quarter of the curve.
  private func medianSlope(_ points: Range<Int>) -> Double {
    var slopes: [Double] = []
    for first in points {
      for second in first + 1..<points.upperBound {
        slopes.append((values[second] - values[first]) / (times[second] - times[first]))
      }
    }
    slopes.sort()
    return (slopes[slopes.count / 2] + slopes[(slopes.count - 1) / 2]) / 2
  }

  /// Returns the median variation of the parts. A part's variation is the range of its values, minus the average growth
  /// in its time.
  private func sway(in ranges: [Range<Int>], _ average: Double) -> Double {
    let sways = ranges.filter { $0.count > 1 }.map { range in
      let part = range.map { values[$0] }
      let growth = average * (times[range.upperBound - 1] - times[range.lowerBound])
      return max(0, (part.max() ?? 0) - (part.min() ?? 0) - growth)
    }.sorted()
    return sways.isEmpty ? 0 : sways[sways.count / 2]
  }

  /// Returns the share of the intervals between heap images with hardly any change of the value.
  private func stillShare(from start: Int, _ average: Double, _ rules: GrowthRules) -> Double {
    var still = 0
    for index in start + 1..<values.count
    where abs(values[index] - values[index - 1]) <= rules.stillShare * average * (times[index] - times[index - 1]) {
      still += 1
    }
    return Double(still) / Double(values.count - 1 - start)
  }

  /// Returns the reason why the heap images before `start` make the later growth harmless; nil if there is none.
  private func contradiction(
    before start: Int, _ marks: [GrowthSuspicion.Mark], _ rise: Double, _ average: Double, _ rules: GrowthRules
  ) -> Innocence? {
    let earlier = values[..<start]
    guard let highest = earlier.max(), let last = marks.last?.value, last > highest else { return .fallsBack }
    var (peak, fall) = (values[0], 0.0)
    for value in values {
      peak = max(peak, value)
      fall = max(fall, peak - value)
    }
    if fall > rules.maxFall * rise { return .fallsBack }
    // Leave out the first quarter of the earlier time, because programs warm up then.
    let warm = start / 4
    let growth = marks[0].value - values[warm]
    let time = max(marks[0].time - times[warm], .leastNormalMagnitude)
    return growth / time * rules.minGrowthOverEarlier > average ? .levelsOff : nil
  }
}

/// Growth that looks like a leak.
package struct GrowthSuspicion: Codable, Hashable, Sendable {
  /// The lowest number in one part of the curve.
  package struct Mark: Codable, Hashable, Sendable {
    /// The middle of the part, in seconds.
    package var time: Double
    package var value: Double
  }

  package var isStrong: Bool
  /// The number of heap images that this suspicion is based on. They are the last images of the series.
  package var images: Int
  /// The growth from the first part of the curve to the last.
  package var rise: Double
  package var perSecond: Double
  /// The growth per time in the second half, as a share of the growth per time in the first half.
  package var lateShare: Double
  package var marks: [Mark]

  package init(
    isStrong: Bool, images: Int, rise: Double, perSecond: Double, lateShare: Double, marks: [Mark]
  ) {
    (self.isStrong, self.images, self.rise, self.perSecond) = (isStrong, images, rise, perSecond)
    (self.lateShare, self.marks) = (lateShare, marks)
  }
}
