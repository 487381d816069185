// Programs that print the stacks of their allocations, compiled in ways that change the layout of frames.

enum StackPrograms {
  /// Returns the object file that each program is linked with.
  static func backtraceObject() throws -> String {
    try TestProgram("stacks-backtrace.c", flags: ["-c", "-fPIC", "-Wno-unused-command-line-argument"]).path()
  }

  static func c(_ flags: [String]) throws -> String {
    try TestProgram(
      named: "stacks-calls", sources: ["stacks-calls.c", "stacks-backtrace.c"], flags: ["-rdynamic"] + flags
    ).path()
  }

  /// Returns a shared object whose frames have `room` additional bytes.
  static func plugin(room: Int) throws -> String {
    try TestProgram("stacks-plugin.c", flags: ["-shared", "-fPIC", "-DROOM=\(room)"]).path()
  }

  static func swift(_ source: String, _ flags: [String]) throws -> String {
    try TestProgram(source, flags: [try backtraceObject()] + flags).path()
  }

  /// The flags of several ways to compile Swift. Without `-Onone` the code is optimised.
  static let swiftFlags: [[String]] = [["-Onone"], [], ["-Onone", "-static-stdlib"], ["-static-stdlib"]]
}
