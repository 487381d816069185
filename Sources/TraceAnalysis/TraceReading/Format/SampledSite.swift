// The allocation sites of a light recording, with estimates and their errors.

import CTraceFormat

/// The sums of a stack with sampled allocations, from the recording's start to an image.
package struct SampledSite: Hashable, Sendable {
  /// Sums over samples. A sample taken with probability p counts as 1 / p allocations of its size.
  package struct Sums: Hashable, Sendable {
    package var samples: UInt64
    package var objects: UInt64
    package var bytes: UInt64
    /// The variance of `bytes`, in units of (samplePeriod / 256)².
    package var variance: UInt64

    package init(samples: UInt64, objects: UInt64, bytes: UInt64, variance: UInt64) {
      (self.samples, self.objects, self.bytes, self.variance) = (samples, objects, bytes, variance)
    }

    /// Subtracts the sums, with 0 in the place of negative numbers. More may be freed than allocated in a damaged
    /// trace, or while a sample is being taken.
    static func - (a: Sums, b: Sums) -> Sums {
      func difference(_ x: UInt64, _ y: UInt64) -> UInt64 { x > y ? x - y : 0 }
      return Sums(
        samples: difference(a.samples, b.samples), objects: difference(a.objects, b.objects),
        bytes: difference(a.bytes, b.bytes), variance: difference(a.variance, b.variance))
    }

    /// The standard error of `bytes`. Source: the estimator of a sum's variance by Horvitz and Thompson.
    package func byteError(period: UInt64) -> Double {
      Double(variance).squareRoot() * Double(period) / Self.varianceUnitsOfPeriod
    }

    private static let varianceUnitsOfPeriod = 256.0
  }

  package var time: UInt64
  package var number: UInt64
  package var allocated: Sums
  package var freed: Sums
  /// The outermost first; empty if the stack is unknown.
  package var frames: [FrameKey]

  package init(time: UInt64, number: UInt64, allocated: Sums, freed: Sums, frames: [FrameKey]) {
    (self.time, self.number, self.allocated, self.freed) = (time, number, allocated, freed)
    self.frames = frames
  }

  package var live: Sums { allocated - freed }
}

/// Estimates, from samples, of all allocations and frees from a light recording's start to a moment.
package struct SampleTotals: Hashable, Sendable {
  package var time: UInt64
  package var allocatedObjects: UInt64
  package var allocatedBytes: UInt64
  package var freedObjects: UInt64
  package var freedBytes: UInt64
  package var samples: UInt64
  /// The number of `samples` without a stack.
  package var withoutStack: UInt64
  /// The number of samples that were lost because no table had room.
  package var leftOut: UInt64

  package init(
    time: UInt64, allocatedObjects: UInt64, allocatedBytes: UInt64, freedObjects: UInt64, freedBytes: UInt64,
    samples: UInt64, withoutStack: UInt64, leftOut: UInt64
  ) {
    (self.time, self.samples) = (time, samples)
    (self.allocatedObjects, self.allocatedBytes) = (allocatedObjects, allocatedBytes)
    (self.freedObjects, self.freedBytes) = (freedObjects, freedBytes)
    (self.withoutStack, self.leftOut) = (withoutStack, leftOut)
  }

  package var liveBytes: UInt64 { allocatedBytes > freedBytes ? allocatedBytes - freedBytes : 0 }
}

extension SampledSite {
  /// The approximate bytes that the reader needs to keep the site.
  var cost: UInt64 { 160 + 24 * UInt64(frames.count) }

  init?(_ cursor: inout ByteCursor) {
    guard let time = cursor.varint(), let number = cursor.varint(), let samples = cursor.varint(),
      let freedSamples = cursor.varint(), let objects = cursor.varint(), let bytes = cursor.varint(),
      let variance = cursor.varint(), let freedObjects = cursor.varint(), let freedBytes = cursor.varint(),
      let freedVariance = cursor.varint(), let count = cursor.varint(), count <= UInt64(cursor.remaining)
    else { return nil }
    self.init(
      time: time, number: number,
      allocated: Sums(samples: samples, objects: objects, bytes: bytes, variance: variance),
      freed: Sums(samples: freedSamples, objects: freedObjects, bytes: freedBytes, variance: freedVariance),
      frames: [])
    frames.reserveCapacity(Int(count))
    var key: UInt64 = 0
    for _ in 0..<count {
      guard let difference = cursor.zigzag() else { return nil }
      key &+= UInt64(bitPattern: difference)
      frames.append(FrameKey(encoded: key))
    }
  }

  func encode(to fields: inout ByteBuilder) {
    for value in [
      time, number, allocated.samples, freed.samples, allocated.objects, allocated.bytes, allocated.variance,
      freed.objects, freed.bytes, freed.variance, UInt64(frames.count),
    ] { fields.varint(value) }
    var before: UInt64 = 0
    for frame in frames {
      fields.zigzag(Int64(bitPattern: frame.encoded &- before))
      before = frame.encoded
    }
  }
}

extension SampleTotals {
  init?(_ cursor: inout ByteCursor) {
    guard let time = cursor.varint(), let allocatedObjects = cursor.varint(), let allocatedBytes = cursor.varint(),
      let freedObjects = cursor.varint(), let freedBytes = cursor.varint(), let samples = cursor.varint(),
      let withoutStack = cursor.varint(), let leftOut = cursor.varint()
    else { return nil }
    self.init(
      time: time, allocatedObjects: allocatedObjects, allocatedBytes: allocatedBytes, freedObjects: freedObjects,
      freedBytes: freedBytes, samples: samples, withoutStack: withoutStack, leftOut: leftOut)
  }

  func encode(to fields: inout ByteBuilder) {
    for value in [
      time, allocatedObjects, allocatedBytes, freedObjects, freedBytes, samples, withoutStack, leftOut,
    ] { fields.varint(value) }
  }
}

extension TraceDefinitions {
  /// Returns the only image that ever covered an address; nil if there is none, or if several images covered it.
  /// O(images)
  package func onlyImage(at address: UInt64) -> LoadedImage? { onlyImageIndex(at: address).map { images[$0].image } }

  /// Returns the index in `images` of the only image that ever covered an address; nil as for `onlyImage(at:)`.
  /// O(images)
  package func onlyImageIndex(at address: UInt64) -> Int? {
    var found: Int?
    for (index, image) in images.enumerated() where image.image.range.contains(RuntimeAddress(address)) {
      if found != nil { return nil }
      found = index
    }
    return found
  }
}
