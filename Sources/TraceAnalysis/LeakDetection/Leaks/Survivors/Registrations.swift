// Registrations that libraries are known to make.

import PlatformRules

/// Recognises registrations, jobs and sleeps by the types and functions of the libraries that make them.
enum Registrations {
  private static let types = RuleBook.shipped.table(.registration, by: .type)
  private static let symbols = RuleBook.shipped.table(.registration, by: .symbol)
  /// Variables that hold timers.
  static let timers = RuleBook.shipped.table(.timers, by: .variable)
  /// Functions, by their short names, that make a dispatch source for a timer.
  static let timerMakers = RuleBook.shipped.table(.timers, by: .function)

  private static let jobTypes = RuleBook.shipped.table(.job, by: .type)
  private static let jobSymbols = RuleBook.shipped.table(.job, by: .symbol)
  /// Classes whose objects resume tasks, by their names with the module.
  static let resumers = RuleBook.shipped.table(.resumes, by: .type)
  private static let sleeps = RuleBook.shipped.table(.sleeps, by: .function)

  /// Returns whether a function suspends its task for a time. `name`: the function's short name.
  static func isSleep(function name: String) -> Bool { sleeps.matches(name) }

  /// Returns whether memory of a type is work that a library is about to run. `name`: the type's name with the module.
  static func isJob(ofType name: String) -> Bool { jobTypes.matches(name) }

  /// Returns whether a function allocates memory for such work. `name`: the function's linker symbol.
  static func isJob(ofSymbol name: String) -> Bool { jobSymbols.matches(name) }

  /// Returns whether objects of a type are a continuation, or have continuations. `name`: the type's name with the module.
  static func resumes(type name: String) -> Bool { name.contains("Continuation") || resumers.matches(name) }

  /// Returns the kind of registration that objects of a type are; nil for other types. `name`: the name with the
  /// module.
  static func kind(ofType name: String) -> Finding.Registration? {
    types.statement(for: name).flatMap(Finding.Registration.init(rawValue:))
  }

  /// Returns the kind of registration that a function makes; nil for other functions. `name`: the linker symbol.
  static func kind(ofSymbol name: String) -> Finding.Registration? {
    symbols.statement(for: name).flatMap(Finding.Registration.init(rawValue:))
  }
}
