// The parts that all messages of pprof share.

/// Field numbers of the profile message. Source: profile.proto of github.com/google/pprof.
enum PprofField {
  static let sampleType = 1
  static let sample = 2
  static let mapping = 3
  static let location = 4
  static let function = 5
  static let stringTable = 6
  static let timeNanoseconds = 9
  static let durationNanoseconds = 10
  static let periodType = 11
  static let period = 12
  static let defaultSampleType = 14
}

/// Numbers the strings of a profile. The empty string is number 0.
struct PprofStrings {
  private(set) var all = [""]
  private var numbers = ["": 0]

  subscript(text: String) -> Int64 {
    mutating get {
      if let known = numbers[text] { return Int64(known) }
      all.append(text)
      numbers[text] = all.count - 1
      return Int64(all.count - 1)
    }
  }
}
