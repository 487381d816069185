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

  /// The registration that an object of a type is, by its name with the module.
  static func kind(ofType name: String) -> Finding.Registration? {
    types.statement(for: name).flatMap(Finding.Registration.init(rawValue:))
  }

  /// The registration that a function makes, by its linker's name.
  static func kind(ofSymbol name: String) -> Finding.Registration? {
    symbols.statement(for: name).flatMap(Finding.Registration.init(rawValue:))
  }
}
