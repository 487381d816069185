// The number of something from image to image, and whether it grows like a leak.

/// The numbers of one thing at the times of images of one process. A value.
package struct GrowthCurve: Hashable, Sendable {
  /// Seconds, each later than the one before.
  package var times: [Double]
  /// As many.
  package var values: [Double]
  /// By image, the part of the objects of the image before that are still there; nil where that is not known.
  package var kept: [Double?]

  package init(times: [Double], values: [Double], kept: [Double?] = []) {
    precondition(times.count == values.count, "a value for each time")
    (self.times, self.values) = (times, values)
    self.kept = kept.count == times.count ? kept : times.map { _ in nil }
  }

  /// The reason why growth is not suspected.
  package enum Innocence: String, Codable, Hashable, Sendable {
    /// There are too few images.
    case tooFewImages
    /// It did not grow, or by less than matters.
    case hardlyGrows
    /// Growth slowed down or stopped.
    case levelsOff
    /// It rose at some times, and not at others.
    case inSteps
    /// It falls now and then.
    case fallsBack
    /// Its growth is not larger than its variation.
    case sways
    /// Its objects are replaced by others.
    case turnsOver
    /// There are more of the objects that hold it, in the same proportion.
    case growsWithHolder
  }

  package enum Judgement: Hashable, Sendable {
    case innocent(Innocence)
    case suspect(GrowthSuspicion)
  }

  /// O(images · log images).
  package func judged(by rules: GrowthRules = .standard) -> Judgement {
    guard values.count >= rules.leastImages else { return .innocent(.tooFewImages) }
    var reason: Innocence?
    // The whole of it first, then its later half, and so on: what began late grows in the last images only.
    var start = 0
    while values.count - start >= rules.leastImages {
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
    guard rise >= rules.leastRise, time > 0 else {
      let fell = (values[start...].max() ?? 0) - values[values.count - 1] > max(rise, 0) + rules.leastRise
      return .innocent(fell ? .fallsBack : .hardlyGrows)
    }
    let rates = zip(marks, marks.dropFirst()).map {
      ($1.value - $0.value) / max($1.time - $0.time, .leastNormalMagnitude)
    }
    let average = rise / time
    if let still = rates.lastIndex(where: { $0 < rules.leastShareOfPart * average }) {
      if rates[still] < 0 { return .innocent(.fallsBack) }
      return .innocent(still == rates.count - 1 ? .levelsOff : .inSteps)
    }
    let half = rates.count / 2
    let early = (marks[half].value - marks[0].value) / (marks[half].time - marks[0].time)
    let late =
      (marks[parts - 1].value - marks[parts - 1 - half].value) / (marks[parts - 1].time - marks[parts - 1 - half].time)
    if late < rules.leastLateGrowth * early { return .innocent(.levelsOff) }
    if count >= rules.leastImagesOfQuarters, slowsDownLate(from: values.count - max(4, count / 4), average, rules) {
      return .innocent(.levelsOff)
    }

    if rise < rules.leastRiseOverSway * sway(in: ranges, average) { return .innocent(.sways) }
    let mean = marks.reduce(0) { $0 + $1.value } / Double(parts)
    let deviations = count < rules.fewImages ? rules.leastDeviationsOfFew : rules.leastDeviations
    if rise < deviations * mean.squareRoot() { return .innocent(.sways) }
    if parts < count, stillShare(from: start, average, rules) > rules.mostStillIntervals { return .innocent(.inSteps) }
    let keptShares = kept[(start + 1)...].compactMap(\.self).sorted()
    if !keptShares.isEmpty, keptShares[keptShares.count / 2] < rules.leastKept { return .innocent(.turnsOver) }
    if start > 0, let reason = contradiction(before: start, marks, rise, average, rules) { return .innocent(reason) }
    return .suspect(
      GrowthSuspicion(
        isStrong: count >= rules.strongImages, images: count, rise: rise, perSecond: average, lateShare: late / early,
        marks: marks))
  }

  /// Tells whether the last points rise by clearly less than they would at the average rate, and than as many did ever
  /// before: nights and weekends are slow again and again.
  private func slowsDownLate(from start: Int, _ average: Double, _ rules: GrowthRules) -> Bool {
    let time = times[times.count - 1] - times[start]
    let expected = average * time
    let slope = medianSlope(start..<values.count)
    guard slope * time < rules.leastLastGrowth * expected - expected.squareRoot() else { return false }
    // Programs warm up at the beginning, and parts of them slowly.
    let count = values.count - start
    return stride(from: values.count / 4, through: start - count, by: max(1, count / 8)).allSatisfy {
      slope < rules.mostOfSlowestGrowth * medianSlope($0..<$0 + count)
    }
  }

  /// The median of the slopes between any two of some points, at least two. O(points²), for a quarter of the curve.
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

  /// How far values stray within a part, the growth of that time taken off: the median of all parts.
  private func sway(in ranges: [Range<Int>], _ average: Double) -> Double {
    let sways = ranges.filter { $0.count > 1 }.map { range in
      let part = range.map { values[$0] }
      let growth = average * (times[range.upperBound - 1] - times[range.lowerBound])
      return max(0, (part.max() ?? 0) - (part.min() ?? 0) - growth)
    }.sorted()
    return sways.isEmpty ? 0 : sways[sways.count / 2]
  }

  /// The part of the intervals that have hardly any growth.
  private func stillShare(from start: Int, _ average: Double, _ rules: GrowthRules) -> Double {
    var still = 0
    for index in start + 1..<values.count
    where abs(values[index] - values[index - 1]) <= rules.stillShare * average * (times[index] - times[index - 1]) {
      still += 1
    }
    return Double(still) / Double(values.count - 1 - start)
  }

  /// The reason why what came before the judged images makes their growth harmless; nil if there is none.
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
    if fall > rules.mostFall * rise { return .fallsBack }
    // Warm-up happens at the beginning.
    let warm = start / 4
    let growth = marks[0].value - values[warm]
    let time = max(marks[0].time - times[warm], .leastNormalMagnitude)
    return growth / time * rules.leastGrowthOverEarlier > average ? .levelsOff : nil
  }
}

/// Growth that looks like a leak.
package struct GrowthSuspicion: Codable, Hashable, Sendable {
  /// The least number in one part of the curve.
  package struct Mark: Codable, Hashable, Sendable {
    /// Seconds: the middle of the part.
    package var time: Double
    package var value: Double
  }

  package var isStrong: Bool
  /// Those that were judged: the last so many.
  package var images: Int
  /// From the first part of the curve to the last.
  package var rise: Double
  package var perSecond: Double
  /// Growth in the second half, as a share of the growth in the first.
  package var lateShare: Double
  package var marks: [Mark]

  package init(
    isStrong: Bool, images: Int, rise: Double, perSecond: Double, lateShare: Double, marks: [Mark]
  ) {
    (self.isStrong, self.images, self.rise, self.perSecond) = (isStrong, images, rise, perSecond)
    (self.lateShare, self.marks) = (lateShare, marks)
  }
}
