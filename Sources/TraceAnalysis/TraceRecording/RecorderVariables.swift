// The variables of the recorder's settings.

import CTraceFormat

/// Environment variables for the recorder. `settings.h` has the table of settings: their names, and the form of their
/// values.
struct RecorderVariables {
  private(set) var pairs: [(name: String, value: String)] = []

  /// Adds a text. The text of a choice is one of the choice's words.
  mutating func add(_ setting: lt_setting, _ text: String) {
    let row = lt_row_of_setting(setting)
    switch row.kind {
    case LT_PATTERN_SETTING, LT_TEXT_SETTING: break
    case LT_CHOICE_SETTING: precondition(String(cString: row.values).split(separator: "|").contains { $0 == text })
    default: preconditionFailure("\(String(cString: row.name)) is no text")
    }
    pairs.append((String(cString: row.name), text))
  }

  /// Adds a number. The unit is the setting's unit.
  mutating func add(_ setting: lt_setting, _ number: some BinaryInteger) {
    let row = lt_row_of_setting(setting)
    switch row.kind {
    case LT_NUMBER_SETTING, LT_SECONDS_SETTING: pairs.append((String(cString: row.name), String(number)))
    case LT_HEXADECIMAL_SETTING: pairs.append((String(cString: row.name), String(number, radix: 16)))
    default: preconditionFailure("\(String(cString: row.name)) is no number")
    }
  }

  /// Adds a flag or a switch.
  mutating func add(_ setting: lt_setting, _ isOn: Bool) {
    let row = lt_row_of_setting(setting)
    switch row.kind {
    case LT_FLAG_SETTING: pairs.append((String(cString: row.name), isOn ? "1" : "0"))
    case LT_SWITCH_SETTING: pairs.append((String(cString: row.name), isOn ? "on" : "off"))
    default: preconditionFailure("\(String(cString: row.name)) is neither on nor off")
    }
  }
}
