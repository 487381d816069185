// The words where the recorder expects the cases of enumerations.

import CHeapScan
import CTraceShim
import Testing

private final class Leaf {}

private enum Reading {
  case raw(Int)
  case named(Leaf, Int)
}

private struct Gauge {
  var reading = Reading.raw(1)
  var number = 2
}

private struct Nothing {}

private class Station {
  var number = 1
  var name = "station"
  var reading = Reading.raw(3)
}

private final class Tower: Station {
  let nothing = Nothing()
  var gauge: Gauge? = Gauge()
  var height: Int? = 4
  var leaf = Leaf()
}

private final class Holder<Value> {
  var value: Value
  var count = 5
  init(_ value: Value) { self.value = value }
}

@Suite struct CaseWordTests {
  private func words(_ type: Any.Type, storage: Int = LT_STORAGE_NONE) -> lt_enum_tags {
    words(UInt64(UInt(bitPattern: unsafeBitCast(type, to: UnsafeRawPointer.self))), storage: storage)
  }

  private func words(_ metadata: UInt64, storage: Int = LT_STORAGE_NONE) -> lt_enum_tags {
    var memory = lt_own_memory
    return lt_enum_tags_of(&memory, metadata, UInt32(storage))
  }

  /// Returns the offsets of these words in an object.
  private func offsets(_ type: Any.Type) -> [Int] {
    let words = words(type)
    return (0..<64).filter { words.mask >> UInt64($0) & 1 != 0 }.map { Int(words.start) + 8 * $0 }
  }

  @Test("Later words of structures and enumerations may store a case, but numbers and strings never do")
  func fields() {
    // The fields are number at 16, name at 24 and 32, and reading from 40 to 57.
    #expect(offsets(Station.self) == [48, 56])
    // The fields are gauge from 64 to 96, height from 96 to 105, and leaf at 112.
    #expect(offsets(Tower.self) == [48, 56, 72, 80, 88])
    #expect(offsets(Leaf.self) == [])
    #expect(offsets(Holder<Reading>.self) == [24, 32])
    #expect(offsets(Holder<Int>.self) == [])
  }

  @Test("Only elements of arrays that hold references have case words") func elements() {
    let readings = words(type(of: [Reading.raw(1)].storageObject), storage: LT_STORAGE_ARRAY)
    #expect(readings.start == 32 && readings.stride == UInt32(MemoryLayout<Reading>.stride))
    #expect(readings.mask == 0b110)
    #expect(words(type(of: [1, 2].storageObject), storage: LT_STORAGE_ARRAY).mask == 0)
    #expect(words(type(of: [Leaf()].storageObject), storage: LT_STORAGE_ARRAY).mask == 0)
  }

  @Test("Dictionary values have case words, counted from the first value") func values() {
    let readings = words(object(["a": Reading.raw(1)]), storage: LT_STORAGE_DICTIONARY)
    #expect(readings.start == 0 && readings.stride == UInt32(MemoryLayout<Reading>.stride))
    #expect(readings.mask == 0b110)
    #expect(words(object([1: 2]), storage: LT_STORAGE_DICTIONARY).mask == 0)
    #expect(words(object([1: Leaf()]), storage: LT_STORAGE_DICTIONARY).mask == 0)
  }

  /// Returns the type of a dictionary's storage.
  private func object<Key, Value>(_ dictionary: [Key: Value]) -> Any.Type {
    type(of: unsafeBitCast(dictionary, to: AnyObject.self))
  }

  @Test("Only classes have case words") func others() {
    #expect(words(Int.self).mask == 0)
    #expect(words(Reading.self).mask == 0)
    #expect(words(0 as UInt64).mask == 0)
    #expect(words(8 as UInt64).mask == 0)
    let zeros = [UInt64](repeating: 0, count: 64)
    #expect(zeros.withUnsafeBytes { words(UInt64(UInt(bitPattern: $0.baseAddress))).mask } == 0)
  }

  @Test(
    "Case numbers count up from 0, and values without a case count down from 255",
    arguments: [0, 1, 15, 16, 239, 240, 255] as [UInt64])
  func bytes(byte: UInt64) {
    #expect(lt_is_case(byte | 0xAB00) == [1, 15, 240, 255].contains(byte))
  }
}

extension Array {
  /// The object with the elements.
  fileprivate var storageObject: AnyObject { unsafeBitCast(self, to: AnyObject.self) }
}
