// Compares the type names that the recorder reads from metadata with the runtime's names.

import CHeapScan
import CTraceShim
import Foundation
import Testing

private func recordedName(_ type: Any.Type) -> String {
  var buffer = [CChar](repeating: 1, count: 1024)
  var memory = lt_own_memory
  let length = lt_type_name(
    &memory, UInt64(UInt(bitPattern: unsafeBitCast(type, to: UnsafeRawPointer.self))), &buffer, buffer.count)
  #expect(buffer[length] == 0)
  return String(decoding: buffer[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

class Plain {}
class Derived: Plain {}
final class Generic<A> { var a: A?; final class Inner {}; struct Middle<B> { final class Innermost {} } }
class GenericDerived<A, B>: Plain { var pair: (A, B)? }
final class FromGeneric: GenericDerived<Int, String> {}
final class Constrained<A: Hashable & Sendable, B: Sequence> where B.Element == A {}
final class Packed<each A> {}
private final class Hidden { final class Nested {} }
fileprivate struct HiddenValue { final class Nested {}; enum Choice { case one } }
enum Namespace { final class Member {}; struct Value {}; indirect enum Tree { case leaf, node(Tree) } }
extension Array { final class InExtension {} }
extension Generic where A == Int { final class InConstrainedExtension {} }
final class Größe {}
final class `class` {}
protocol Walking {}
protocol Talking: AnyObject {}
protocol Associated<Item> { associatedtype Item }
actor Performer { final class Prop {} }
final class FromFoundation: NSObject {}
final class FromResilient: JSONDecoder, @unchecked Sendable {}
final class ResilientGeneric<A>: JSONEncoder, @unchecked Sendable {}

struct TypeNameTests {
  @Test(
    "Names match the runtime's",
    arguments: [
      Plain.self, Derived.self, Namespace.Member.self, Namespace.Value.self, Namespace.Tree.self, Größe.self,
      `class`.self, Performer.self, Performer.Prop.self,
      FromFoundation.self, FromResilient.self, NSObject.self, Thread.self, Formatter.self, JSONEncoder.self,
      NSMutableArray.self, NumberFormatter.self,
      Int.self, String.self, Bool.self, Data.self, Date.self, URL.self, Substring.self, Never.self, Duration.self,
      Array<Int>.self, Dictionary<String, [Int]>.self, Set<Character>.self, ArraySlice<UInt8>.self,
      ContiguousArray<Plain>.self,
      Array<Array<Array<Derived>>>.self, Range<Int>.self, Unmanaged<Plain>.self, UnsafePointer<Int8>.self,
      CollectionOfOne<(Int, String)>.self,
      Generic<Int>.self, Generic<Plain>.self, Generic<Generic<String>>.self, GenericDerived<Int, [String: Bool]>.self,
      FromGeneric.self,
      Constrained<Int, [Int]>.self, ResilientGeneric<Int>.self, Generic<(Int, Plain)>.self,
      Generic<(Int) -> String>.self, Generic<() -> ()>.self,
      Generic<Any>.self,
      Generic<Int.Type>.self, Generic<Plain.Type>.self, AsyncStream<Int>.self,
      ManagedBuffer<Int, UInt8>.self, KeyPath<String, Int>.self, WritableKeyPath<[Int], Int>.self, AnyKeyPath.self,
      ClosedRange<Int>.self,
    ] as [Any.Type])
  func equal(type: Any.Type) { #expect(recordedName(type) == String(reflecting: type)) }

  /// The recorder's names for types, where they differ from the runtime's names.
  @Test(
    "Some names deliberately differ from the runtime's",
    arguments: [
      (Int?.self, "Swift.Int?"), (Generic<String?>.self, "ShimTests.Generic<Swift.String?>"),
      (Generic<any Walking>.self, "ShimTests.Generic<any ShimTests.Walking>"),
      (Generic<any Walking & Talking>.self, "ShimTests.Generic<any ShimTests.Talking & ShimTests.Walking>"),
      (Generic<AnyObject>.self, "ShimTests.Generic<AnyObject>"),
      (Result<Int, any Error>.self, "Swift.Result<Swift.Int, any Swift.Error>"),
      (Task<Int, any Error>.self, "Swift.Task<Swift.Int, any Swift.Error>"),
      // All generic arguments are at the end.
      (AsyncStream<Int>.Continuation.self, "Swift.AsyncStream.Continuation<Swift.Int>"),
      (Generic<Int>.Inner.self, "ShimTests.Generic.Inner<Swift.Int>"),
      (Generic<Int>.Middle<String>.Innermost.self, "ShimTests.Generic.Middle.Innermost<Swift.Int, Swift.String>"),
      // The file of a private type is left out.
      (Hidden.self, "ShimTests.Hidden"), (Hidden.Nested.self, "ShimTests.Hidden.Nested"),
      (HiddenValue.Nested.self, "ShimTests.HiddenValue.Nested"),
    ] as [(Any.Type, String)])
  func different(type: Any.Type, name: String) { #expect(recordedName(type) == name) }

  @Test("Memory that is not metadata has no name, and reading it is harmless") func noMetadata() {
    var own = lt_own_memory
    let memory = UnsafeMutablePointer<UInt64>.allocate(capacity: 512)
    defer { memory.deallocate() }
    var random = SystemRandomNumberGenerator()
    var buffer = [CChar](repeating: 0, count: 1024)
    for round in 0..<300 {
      for i in 0..<512 {
        // The words are kinds, small numbers, pointers into this memory, and arbitrary values.
        memory[i] =
          switch random.next(upperBound: UInt(5)) {
          case 0:
            [0, 0x200, 0x201, 0x202, 0x301, 0x302, 0x303, 0x304, 0x306, 0x500][Int(random.next(upperBound: UInt(10)))]
          case 1: UInt64(random.next(upperBound: UInt(64)))
          case 2: UInt64(UInt(bitPattern: memory + Int(random.next(upperBound: UInt(512)))))
          default: random.next()
          }
      }
      let length = lt_type_name(&own, UInt64(UInt(bitPattern: memory + round)), &buffer, 16)
      #expect(length < 16)
    }
    #expect(lt_type_name(&own, 8, &buffer, 1024) < 1024)
  }
}
