// Registrations that libraries are known to make.

import PlatformRules

/// Tells registrations by the types and functions of the libraries that make them.
enum Registrations {
  private static let types = RuleBook.shipped.table(.registration, by: .type)
  private static let symbols = RuleBook.shipped.table(.registration, by: .symbol)
  /// Variables that hold timers.
  static let timers = RuleBook.shipped.table(.timers, by: .variable)
  /// Functions, by their short names, that make a source which is a timer.
  static let timerMakers = RuleBook.shipped.table(.timers, by: .function)

  private static let jobTypes = RuleBook.shipped.table(.job, by: .type)
  private static let jobSymbols = RuleBook.shipped.table(.job, by: .symbol)
  private static let resumers = RuleBook.shipped.table(.resumes, by: .type)

  private static let sleeps = RuleBook.shipped.table(.sleeps, by: .function)

  /// Tells whether a function suspends its task for a time, by its short name.
  static func isSleep(function name: String) -> Bool { sleeps.matches(name) }

  /// Tells whether memory of a type has work that a library is about to run, by the type's name with the module.
  static func isJob(ofType name: String) -> Bool { jobTypes.matches(name) }

  /// Tells whether a function allocates memory for such work, by its linker's name.
  static func isJob(ofSymbol name: String) -> Bool { jobSymbols.matches(name) }

  /// Tells whether objects of a type resume tasks, by the type's name with the module.
  static func resumes(type name: String) -> Bool { name.contains("Continuation") || resumers.matches(name) }

  /// The registration that an object of a type is, by its name with the module.
  static func kind(ofType name: String) -> Finding.Registration? {
    types.statement(for: name).flatMap(Finding.Registration.init(rawValue:))
  }

  /// The registration that a function makes, by its linker's name.
  static func kind(ofSymbol name: String) -> Finding.Registration? {
    symbols.statement(for: name).flatMap(Finding.Registration.init(rawValue:))
  }
}
