// The long and short forms of names, and the properties of functions that their names show.

import Foundation
import Testing

@testable import TraceSymbolication

@Suite struct DemanglerTests {
  let demangler = Demangler(programModules: ["sample"])

  @Test(arguments: [
    ("$s6sample6PollerC5start5every_ySi_SStF", "Poller.start(every:_:)"),
    ("$s6sample6PollerC5start5every_ySi_SStFyycfU_", "closure #1 in Poller.start(every:_:)"),
    ("$s6sample6PollerC5start5every_ySi_SStFyycfU_TA", "partial apply for closure #1 in Poller.start(every:_:)"),
    ("$s6sample6PollerC5countSivg", "Poller.count.getter"),
    ("$s6sample6PollerC5countSivM.resume.0", "Poller.count.modify"),
    ("$s6sample6PollerCACycfC", "Poller.__allocating_init()"),
    ("$s6sample6PollerCfD", "Poller.__deallocating_deinit"),
    ("$sSa6sampleSiRszlE5totalSiyF", "Array<A>.total()"),
    ("$sSh8_VariantV6insertySb8inserted_x17memberAfterInserttxnFSS_Tg5", "specialized Set._Variant.insert(_:)"),
    ("$s6sample4workSiyYaFTQ0_", "work()"), ("$s6sample4workSiyYaFTY1_", "work()"),
    ("$s5other4ShopC4openyyF", "other.Shop.open()"), ("$sSS5countSivg", "String.count.getter"),
    ("$sSi1loiySbSi_SitFZ", "static Int.< infix(_:_:)"),
    ("_ZN4shop4Cart3addEi", "shop::Cart::add(int)"), ("_ZN4shop4Cart3addEi.cold", "shop::Cart::add(int)"),
    ("main", "main"), ("parse.constprop.0", "parse"), ("async_MainTQ0_", "async_Main"),
    ("_RNvCs1234_7mycrate3foo", "_RNvCs1234_7mycrate3foo"), ("$sNotAName", "$sNotAName"), ("_Z", "_Z"), ("", ""),
  ]) func shortFormsMatch(_ mangled: String, _ short: String) {
    #expect(demangler.demangle(mangled).short == short)
  }

  @Test func fullFormHasModulesAndTypes() {
    #expect(
      demangler.demangle("$s6sample6PollerC5start5every_ySi_SStF").full
        == "sample.Poller.start(every: Swift.Int, _: Swift.String) -> ()")
    #expect(demangler.demangle("parse.constprop.0").full == "parse.constprop.0")
  }

  @Test(arguments: [
    ("$s6sample6PollerC5start5every_ySi_SStF", "sample"), ("$sSa6sampleSiRszlE5totalSiyF", "sample"),
    ("$sSS5countSivg", "Swift"),
    ("$s6sample5table_WZ", "sample"), ("$s6sample4workSiyYaFTQ0_", "sample"),
  ]) func moduleIsWhereTheCodeIsWritten(_ mangled: String, _ module: String) {
    #expect(demangler.demangle(mangled).module == module)
  }

  @Test func asyncPartsAreSeparatedFromTheName() {
    #expect(demangler.demangle("$s6sample4workSiyYaF").isAsync)
    #expect(demangler.demangle("$s6sample4workSiyYaF").asyncPart == nil)
    #expect(demangler.demangle("$s6sample4workSiyYaFTQ0_").asyncPart == .afterAwait(index: 1))
    #expect(demangler.demangle("$s6sample4workSiyYaFTY1_").asyncPart == .afterSuspension(index: 2))
    #expect(demangler.demangle("async_MainTY1_").asyncPart == .afterSuspension(index: 2))
    #expect(!demangler.demangle("$s6sample6PollerC5countSivg").isAsync)
    // A closure in an async function need not be async itself.
    let closure = demangler.demangle("$s6sample4workSiyYaFyycfU_")
    #expect(closure.short == "closure #1 in work()")
    #expect(!closure.isAsync)
  }

  @Test(arguments: [
    "$s6sample6PollerC5start5every_ySi_SStFyycfU_TA", "$sIeg_SgWOe", "$sIetH_yts5Error_pIegHrzo_TR",
    "$s6sample6PollerCMa",
    "$s6sample6PollerCwet", "_ZThn16_N4shop4Cart3addEi",
  ]) func compilerGeneratedFunctionsAreThunks(_ mangled: String) {
    #expect(demangler.demangle(mangled).isThunk)
  }

  @Test(arguments: [
    "$s6sample6PollerC5start5every_ySi_SStF", "$s6sample6PollerCACycfC", "$s6sample6PollerCfD", "$s6sample5table_WZ",
    "main",
  ]) func writtenFunctionsAreNotThunks(_ mangled: String) {
    #expect(!demangler.demangle(mangled).isThunk)
  }

  @Test func overlongNamesAreNotDemangled() {
    let name = "$s" + String(repeating: "1a", count: 1 << 16)
    #expect(demangler.demangle(name).short == name)
  }

  @Test(arguments: [
    "$s1a1byyFTf3np",  // Allocates memory without limit.
    "$s11SwiftSyntax013RawReturnStmtB0V3rawAA0cB0Rvs",  // Aborts.
  ]) func namesThatCrashTheDemanglerAreKeptAndTheNextIsDemangled(_ name: String) {
    #expect(demangler.demangle(name).short == name)
    #expect(demangler.demangle("$s6sample6PollerC5countSivg").short == "Poller.count.getter")
  }

  @Test func symbolicatorsShareADemanglerUntilANameCrashesIt() {
    let files = OpenImageFiles()
    let first = files.demangler(programModules: ["sample"])
    files.renewDemanglers()
    #expect(files.demangler(programModules: ["sample"]) === first)
    #expect(files.demangler(programModules: []) !== first)
    _ = first.demangle("$s11SwiftSyntax013RawReturnStmtB0V3rawAA0cB0Rvs")
    // A symbolicator keeps its demangler, so that the number of new processes is limited.
    #expect(files.demangler(programModules: ["sample"]) === first)
    files.renewDemanglers()
    let next = files.demangler(programModules: ["sample"])
    #expect(next !== first)
    #expect(next.demangle("$s6sample6PollerC5countSivg").short == "Poller.count.getter")
  }

  @Test func alteredNamesNeverCrashTheReader() {
    var random = DamagedFileTests.Random(state: 3)
    let names = [
      "$s6sample6PollerC5start5every_ySi_SStFyycfU_TA", "$sIetH_yts5Error_pIegHrzo_TR10async_MainTf3npf_nTQ0_",
      "_ZNSt6vectorIiSaIiEED4Ev",
    ]
    let letters = Array("_$0123456789abcABCSTWYyxzptQR.<>()".utf8)
    for _ in 0..<5000 {
      var bytes = Array(names.randomElement(using: &random)!.utf8)
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        bytes[Int.random(in: 2..<bytes.count, using: &random)] = letters.randomElement(using: &random)!
      }
      #expect(!demangler.demangle(String(decoding: bytes, as: UTF8.self)).short.isEmpty)
    }
  }

  @Test func shortFormsMatchTheToolchainsSimplifiedNames() throws {
    // The toolchain omits all modules. leaktrace omits them if all of them are the program's.
    let path = try Tool.find("swift-format")
    let functions = try Tool.run("nm", [path]).split(separator: "\n").compactMap { line -> String? in
      let fields = line.split(separator: " ")
      return fields.count == 3 && "tT".contains(fields[1]) && fields[2].hasPrefix("$s") ? String(fields[2]) : nil
    }
    let sample = stride(from: 0, to: functions.count, by: max(1, functions.count / 6000)).map { functions[$0] }
    let expected = try Tool.run(
      "swift-demangle", ["-compact", "-simplified"], input: sample.joined(separator: "\n") + "\n"
    ).split(separator: "\n")
    try #require(expected.count == sample.count)
    let modules = Set(sample.compactMap { demangler.demangle($0).module })
    let all = Demangler(programModules: modules)
    var compared = 0
    var differences: [String] = []
    for (mangled, simplified) in zip(sample, expected) {
      let name = all.demangle(mangled)
      // Names of thunks have leaktrace's own form, because users do not see them.
      if name.isThunk { continue }
      compared += 1
      // The runtime writes Optional and Array in full, but the tool does not.
      if name.short != simplified, !name.full.contains("Optional<"), !name.full.contains("Array<") {
        differences.append("\(name.short), not \(simplified)")
      }
    }
    #expect(compared > 1000)
    #expect(differences.count <= compared / 500, "\(differences.count) of \(compared): \(differences.prefix(5))")
  }
}
