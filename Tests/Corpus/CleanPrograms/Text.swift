// Regular expressions, dates, strings.
import Foundation

enum Expressions: CleanProgram {
  static func correct() {
    let log = (0..<100).map { "2024-05-0\($0 % 9 + 1) worker-\($0) finished in \($0 * 3) ms" }
    let pattern = #/(\d+)-(\d+)-(\d+) worker-(\d+) finished in (\d+) ms/#
    for line in log {
      if let match = line.wholeMatch(of: pattern) { note(match.5.count) }
    }
  }
}

enum Dates: CleanProgram {
  static func correct() {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_GB")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    formatter.dateFormat = "d MMMM yyyy HH:mm"
    for day in 0..<20 { note(formatter.string(from: Date(timeIntervalSince1970: Double(day) * 86_400)).count) }
  }
}

enum Strings: CleanProgram {
  static func correct() {
    let words = (0..<2000).map { "word number \($0), étoile" }
    note(words.map { $0.uppercased() }.joined(separator: " ").split(separator: ",").count)
    note(words.joined().replacingOccurrences(of: "é", with: "e").count)
    note(Set(words).sorted().first?.count ?? 0)
  }
}
