import Testing

@testable import TraceSymbolication

@Suite struct ReferentNameTests {
  @Test(arguments: [
    ("App.Screen", "App.Screen"), ("App.(Screen in _0123456789ABCDEF0123456789ABCDEF)", "App.Screen"),
    ("App.(Screen in $5628aebb2)", "App.Screen"),
    ("App.(Outer in _0123456789ABCDEF0123456789ABCDEF).Inner", "App.Outer.Inner"),
    ("App.Box<App.(Screen in $5)>", "App.Box<App.Screen>"),
    ("(App.A, App.B)", "(App.A, App.B)"), ("(extension in Lib):App.A", "(extension in Lib):App.A"),
    ("(A in _", "(A in _"), ("", ""),
  ]) func privateTypesAreNamedWithoutTheirFiles(name: String, expected: String) {
    #expect(ReferentName.withoutFiles(name) == expected)
  }
}
