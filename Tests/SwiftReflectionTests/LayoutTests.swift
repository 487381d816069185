// The layouts of objects of a running program, as each way to build it makes them.

import Testing

@testable import TraceAnalysis

@Suite struct LayoutTests {
  /// A reference as the tables below have it.
  struct Expected: Equatable, CustomStringConvertible {
    var offset: Int
    var name: String
    var strength: ReferenceStrength
    var kind: ReferenceField.Kind
    var caseName: String?

    init(_ offset: Int, _ name: String, _ strength: ReferenceStrength = .strong, _ kind: ReferenceField.Kind = .object, in caseName: String? = nil) {
      self.offset = offset
      self.name = name
      self.strength = strength
      self.kind = kind
      self.caseName = caseName
    }

    init(_ field: ReferenceField) {
      self.init(field.offset, field.name, field.strength, field.kind, in: field.caseName)
    }

    var description: String { "\(offset) \(name) \(strength) \(kind) \(caseName ?? "")" }
  }

  static let classes: [(name: String, typeName: String, references: [Expected])] = [
    ("leaf", "specimens.Leaf", []),
    ("derived", "specimens.Derived", [Expected(24, "first"), Expected(40, "parent", .weak), Expected(48, "last")]),
    (
      "strengths", "specimens.Strengths",
      [
        Expected(16, "strong"), Expected(24, "optional"), Expected(32, "weak", .weak), Expected(40, "unowned", .unowned),
        Expected(48, "unsafe", .unmanaged), Expected(56, "unmanaged", .unmanaged), Expected(64, "delegate", .weak, .existential),
        Expected(80, "owner", .unowned, .existential),
      ]
    ),
    (
      "closures", "specimens.Closures",
      [
        Expected(24, "action", .strong, .closure(functionOffset: 16)), Expected(40, "optionalAction", .strong, .closure(functionOffset: 32)),
        Expected(56, "asynchronous", .strong, .closure(functionOffset: 48)), Expected(80, "handlers.0", .strong, .closure(functionOffset: 72)),
        Expected(96, "handlers.1", .strong, .closure(functionOffset: 88)),
      ]
    ),
  ]

  @Test(arguments: SpecimenBuild.allCases)
  func referencesOfClassesAreFoundByName(_ build: SpecimenBuild) throws {
    let process = try SpecimenProcess.running(build)
    let reflection = try process.reflection(ProcessMemory(of: process.processID))
    for (name, typeName, references) in Self.classes {
      let layout = try #require(process.layout(of: name, reflection), "\(name)")
      #expect(layout.typeName == typeName)
      #expect(layout.references.map { Expected($0) } == references, "\(name)")
      #expect(layout.opaque == [], "\(name)")
    }
    #expect(reflection.failedQuestions == 0)
  }
}
