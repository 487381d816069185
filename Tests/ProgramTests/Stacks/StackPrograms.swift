// The programs that say what stacks they allocate on, compiled in the ways that change what frames look like.

enum StackPrograms {
  /// The object file that each of them is linked with.
  static func backtraceObject() throws -> String {
    try TestProgram("stacks-backtrace.c", flags: ["-c", "-fPIC", "-Wno-unused-command-line-argument"]).path()
  }

  static func c(_ flags: [String]) throws -> String {
    try TestProgram(
      named: "stacks-calls", sources: ["stacks-calls.c", "stacks-backtrace.c"], flags: ["-rdynamic"] + flags
    ).path()
  }

  /// A shared object whose frames have so many bytes of room.
  static func plugin(room: Int) throws -> String {
    try TestProgram("stacks-plugin.c", flags: ["-shared", "-fPIC", "-DROOM=\(room)"]).path()
  }

  static func swift(_ source: String, _ flags: [String]) throws -> String {
    try TestProgram(source, flags: [try backtraceObject()] + flags).path()
  }

  /// Ways to compile Swift. Without `-Onone` it is optimised.
  static let swiftFlags: [[String]] = [["-Onone"], [], ["-Onone", "-static-stdlib"], ["-static-stdlib"]]
}
