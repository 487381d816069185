// Replaces reflection and symbols in the fuzzer. The answers depend only on addresses.

@testable import HeapAnalysis
@testable import TraceReading
@testable import TraceSymbolication

/// Returns the layout of a type by the page of its metadata. Some layouts are the standard library's, for example of
/// collections, and some belong to no type.
final class FuzzLayouts: LayoutSource {
  static let count = 14

  private static func field(
    _ offset: Int, _ strength: ReferenceStrength = .strong, _ kind: ReferenceField.Kind = .object,
    _ caseName: String? = nil
  ) -> ReferenceField {
    ReferenceField(
      offset: offset, name: "field\(offset)", caseName: caseName, strength: strength, kind: kind,
      typeName: caseName.map { "App.Type\($0)" } ?? "")
  }

  private static func payload(_ offset: Int, _ enumeration: Int, _ index: Int) -> ReferenceField {
    ReferenceField(
      offset: offset, name: "state", caseName: "\(index)", strength: .strong, kind: .object,
      typeName: "App.Type\(index)",
      payloads: [PayloadCase(enumeration: enumeration, index: index)], isAlwaysSet: true)
  }

  private static func value(_ stride: Int, _ references: [ReferenceField], _ opaque: [OpaqueField] = []) -> ValueLayout
  {
    ValueLayout(typeName: "", size: stride, stride: stride, alignment: 8, references: references, opaque: opaque)
  }

  private static let closures = [
    field(24, .strong, .closure(functionOffset: 16)), field(40, .strong, .closure(functionOffset: -8)),
    field(48, .strong, .closure(functionOffset: .min)),
  ]

  private static let layouts: [ObjectLayout?] = [
    ObjectLayout(typeName: "", size: 32, references: [field(16), field(24, .weak)], opaque: [], tail: .unknown),
    ObjectLayout(
      typeName: "", size: 32, references: [field(16, .unowned), field(24, .unmanaged)], opaque: [], tail: .plain),
    ObjectLayout(
      typeName: "", size: 32, references: [], opaque: [],
      tail: .array(start: 32, countOffset: 16, element: value(8, [field(0)]))),
    ObjectLayout(
      typeName: "", size: 56, references: [], opaque: [],
      tail: .hashTable(
        scaleOffset: 32, bitmapOffset: 56, keysOffset: 48, key: value(8, [field(0)]), valuesOffset: nil, value: nil)),
    ObjectLayout(
      typeName: "", size: 64, references: [], opaque: [],
      tail: .hashTable(
        scaleOffset: 32, bitmapOffset: 64, keysOffset: 48, key: value(8, [field(0)]), valuesOffset: 56,
        value: value(16, [field(8)]))),
    ObjectLayout(typeName: "", size: 56, references: closures, opaque: [], tail: .unknown),
    ObjectLayout(
      typeName: "", size: 32, references: [], opaque: [],
      tail: .array(start: 32, countOffset: 16, element: value(16, [field(8, .strong, .closure(functionOffset: 0))]))),
    ObjectLayout(
      typeName: "", size: 64, references: [],
      opaque: [
        OpaqueField(range: 16..<40, name: "any", typeName: "", metadataOffset: 40),
        OpaqueField(range: 48..<56, name: "", typeName: ""),
      ],
      tail: .unknown),
    ObjectLayout(
      typeName: "", size: 24,
      references: [
        field(16, .strong, .object, "1"), field(16, .weak, .object, "2"), field(16, .unmanaged, .object, "3"),
      ], opaque: [],
      tail: .unknown),
    ObjectLayout(
      typeName: "", size: .max, references: [field(.min), field(0), field(.max - 7)],
      opaque: [OpaqueField(range: .min ..< .max, name: "", typeName: "")],
      tail: .array(start: .max, countOffset: .max, element: value(.max, [field(.max)]))),
    ObjectLayout(
      typeName: "", size: -1, references: [], opaque: [],
      tail: .hashTable(
        scaleOffset: 16, bitmapOffset: .max, keysOffset: .max,
        key: value(1, [field(0), field(1)], [OpaqueField(range: 0..<8, name: "", typeName: "")]), valuesOffset: 24,
        value: value(.max, [field(.max)]))),
    ObjectLayout(
      typeName: "", size: 40,
      references: [payload(16, 0, 0), payload(16, 0, 1), payload(24, 0, 1), payload(24, 1, 70), payload(32, 1, 3)],
      opaque: [
        OpaqueField(
          range: 16..<40, name: "any", typeName: "", metadataOffset: 40,
          payloads: [PayloadCase(enumeration: 0, index: 2)])
      ],
      enumerations: [
        EnumerationLayout(name: "state", discriminator: .tag(bits: [190, 191], cases: [0, 1, 2, nil])),
        EnumerationLayout(
          name: "next", payloads: [PayloadCase(enumeration: 0, index: 1)], discriminator: .address(offset: 24)),
      ], tail: .unknown),
    // Reflection never returns a layout like this one.
    ObjectLayout(
      typeName: "", size: 40, references: [payload(16, 2, .max), payload(24, 7, -1)], opaque: [],
      enumerations: [
        EnumerationLayout(
          name: "", payloads: [PayloadCase(enumeration: 2, index: .max), PayloadCase(enumeration: 0, index: 0)],
          discriminator: .tag(bits: Array(-70..<70) + [.max, .min], cases: [.max, nil])),
        EnumerationLayout(name: "", discriminator: .zeros(bits: [.max, .min, -1, 63])),
        EnumerationLayout(name: "", discriminator: .address(offset: .max)),
      ], tail: .unknown),
    nil,
  ]

  func layout(ofInstanceAt address: RuntimeAddress, metadata: RuntimeAddress) -> ObjectLayout? {
    Self.layouts[Int(metadata.rawValue >> 12 % UInt64(Self.count))]
  }

  func dependsOnInstance(_ metadata: RuntimeAddress) -> Bool { metadata.rawValue & 1 != 0 }

  /// Recognises the metadata of tasks, and of their memory.
  func metadataKind(at address: UInt64) -> UInt64? {
    switch address & 0xF000 {
    case 0xF000: 0x502
    case 0xE000: 0
    default: nil
    }
  }

  var problem: String? { nil }
}

/// Names functions of all kinds, by address.
struct FuzzNaming: FrameNaming {
  var remarks: [String] { [] }

  func frames(for key: FrameKey, in image: LoadedImage?) -> [SourceFrame] {
    let number = key.address.rawValue >> 4 & 7
    let names = [
      "function()", "Type0.init()", "closure #1 in Type0.function()",
      "partial apply forwarder for closure #1 in Type1.function()",
      "reabstraction thunk helper",
      "_dispatch_worker_thread2", "malloc", "App.Type2.__allocating_init()",
    ]
    let mangled = [
      "$s3App8functionyyF", "$s3App5Type0CACycfc", "$s3App1fyyFyycfU_", "$s3App1fyyFyycfU_TA", "$sIeg_IegTR",
      "_dispatch_worker_thread2",
      "malloc", "swift_task_create",
    ]
    return [
      SourceFrame(
        function: names[Int(number)], fullFunction: names[Int(number)], mangledName: mangled[Int(number)],
        imagePath: image?.path ?? "/lib/libc.so.6",
        file: number & 1 == 0 ? "/src/App.swift" : nil, line: number & 1 == 0 ? Int(number) : nil, column: nil,
        isInlined: false,
        kind: number > 3 ? .systemLibrary : .user, isAsync: false, asyncPart: nil)
    ]
  }
}
