// Joins findings of one cause that come from several places.

import TraceReading
import TraceSymbolication

extension Finding {
  /// Adds the figures and places of a finding with the same cause, from another group or another process. The shown
  /// instance stays. O(places).
  package mutating func add(_ other: Finding) {
    // Figures in a digest may be anything up to its limits.
    instances = instances.addingReportingOverflow(other.instances).overflow ? .max : instances + other.instances
    // If no sibling has ended, there were at least as many births as there are instances.
    if other.evidence.siblings?.deaths == 0 {
      let all = UInt64(clamping: instances)
      evidence.updateSiblings { if $0.deaths == 0 { $0.births = max($0.births, all) } }
    }
    retainedBytes.rawValue &+= other.retainedBytes.rawValue
    retainedBlocks &+= other.retainedBlocks
    held.isEqualForEach =
      held.isEqualForEach && other.held.isEqualForEach && Set(held.types) == Set(other.held.types)
    places = Self.joined(places + other.places)
    origins.stacks = Self.joined(origins.stacks + other.origins.stacks)
    origins.tests = Self.joined(origins.tests + other.origins.tests)
    origins.samples = Self.joined(origins.samples + other.origins.samples)
    if !other.held.together.isEmpty { held.together = Self.sum(held.together + other.held.together) }
  }

  private static func sum(_ held: [HeldType]) -> [HeldType] {
    var byName: [String: HeldType] = [:]
    for type in held {
      byName[type.name, default: HeldType(name: type.name, count: 0, bytes: ByteCount(0))].count &+= type.count
      byName[type.name]?.bytes.rawValue &+= type.bytes.rawValue
    }
    return byName.values.sorted { ($1.bytes, $0.name) < ($0.bytes, $1.name) }
  }

  /// True if all objects named in the finding's title have the same size, as far as is known.
  package var isOfOneSize: Bool { places.allSatisfy { $0.smallest == $0.largest && $0.smallest == places[0].smallest } }

  /// A finding for each place, with the place's figures and path, and all with the same fingerprint. If there is at
  /// most one place, the only element is this finding.
  package var byPlace: [Finding] {
    guard places.count > 1 else { return [self] }
    return places.map { place in
      var finding = self
      (finding.instances, finding.retainedBytes, finding.retainedBlocks) = (
        place.instances, place.retainedBytes, place.retainedBlocks
      )
      if !place.path.isEmpty { finding.path = place.path }
      finding.places = [place]
      finding.places[0].path = []
      return finding
    }
  }

  /// Joins places that have the same line.
  static func joined(_ places: [Place]) -> [Place] {
    var numbers: [PlaceKey: Int] = [:]
    var result: [Place] = []
    for place in places {
      let key = PlaceKey(place.place)
      guard let known = numbers[key] else {
        numbers[key] = result.count
        result.append(place)
        continue
      }
      result[known].instances =
        result[known].instances.addingReportingOverflow(place.instances).overflow
        ? .max : result[known].instances + place.instances
      result[known].retainedBytes.rawValue &+= place.retainedBytes.rawValue
      result[known].retainedBlocks &+= place.retainedBlocks
      result[known].smallest = min(result[known].smallest, place.smallest)
      result[known].largest = max(result[known].largest, place.largest)
    }
    return result.sorted()
  }

  /// A line of the program, or a function if no line is known.
  struct PlaceKey: Hashable, Comparable {
    var file: String
    var line: Int
    var function: String

    init(_ frame: SourceFrame?) {
      (file, line, function) = (frame?.file ?? "", frame?.line ?? 0, frame?.function ?? "")
    }

    static func < (a: PlaceKey, b: PlaceKey) -> Bool { (a.file, a.line, a.function) < (b.file, b.line, b.function) }
  }
}

extension Finding.Place: Comparable {
  /// Orders places by instances, then by bytes, both descending. Lines break ties.
  package static func < (a: Finding.Place, b: Finding.Place) -> Bool {
    if a.instances != b.instances { return a.instances > b.instances }
    if a.retainedBytes != b.retainedBytes { return a.retainedBytes > b.retainedBytes }
    return Finding.PlaceKey(a.place) < Finding.PlaceKey(b.place)
  }
}

/// Joins the findings of groups one by one. Each cause has one finding, which shows an instance from the place with the
/// most instances.
struct FindingJoin {
  private(set) var findings: [Finding] = []
  private var numbers: [[String]: Int] = [:]
  /// By finding and place: an instance from the place's largest group.
  private var samples: [[Finding.PlaceKey: Finding]] = []

  /// - Returns: The index of the cause's finding.
  @discardableResult
  mutating func add(_ finding: Finding) -> Int {
    let identity = FindingIdentity(finding)
    let parts = identity.cause.parts
    let place = Finding.PlaceKey(finding.places.first?.place)
    guard let known = numbers[parts] else {
      numbers[parts] = findings.count
      var finding = finding
      finding.fingerprint = identity.fingerprint
      findings.append(finding)
      samples.append([place: finding])
      return findings.count - 1
    }
    findings[known].add(finding)
    if samples[known][place].map({ Self.isLarger(finding, than: $0) }) ?? true { samples[known][place] = finding }
    return known
  }

  /// Returns all findings, each with the path of an instance from its first place.
  func joined() -> [Finding] {
    findings.indices.map { index in
      var finding = findings[index]
      guard let place = finding.places.first, let sample = samples[index][Finding.PlaceKey(place.place)] else {
        return finding
      }
      (finding.path, finding.subject, finding.held.types) = (sample.path, sample.subject, sample.held.types)
      finding.evidence.takeInstance(of: sample.evidence)
      for number in finding.places.indices.dropFirst() {
        finding.places[number].path = samples[index][Finding.PlaceKey(finding.places[number].place)]?.path ?? []
      }
      return finding
    }
  }

  private static func isLarger(_ a: Finding, than b: Finding) -> Bool {
    (a.instances, a.retainedBytes) > (b.instances, b.retainedBytes)
  }
}
