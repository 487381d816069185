// Memory that the C library hands to its callers, who are to free it: the text of a memory stream, copies of strings.
import Glibc

private struct Report {
  let title: UnsafeMutablePointer<CChar>
  let text: UnsafeMutablePointer<CChar>
  let length: Int

  func discard() {
    free(title)
    free(text)
  }
}

enum ReportStreams: FaultyProgram {
  static func faulty() { for month in 1...4 { send(month, discarding: false) } }
  static func correct() { for month in 1...4 { send(month, discarding: true) } }

  @inline(never) private static func send(_ month: Int, discarding: Bool) {
    guard let report = write(month) else { return }
    note(Int(strlen(report.title)) + report.length)
    if discarding { report.discard() }
  }

  private static func write(_ month: Int) -> Report? {
    guard let text = print(month), let title = copy("report of month \(month)") else { return nil }
    return Report(title: title, text: text.start, length: text.length)
  }

  @inline(never) private static func copy(_ title: String) -> UnsafeMutablePointer<CChar>? { strdup(title) }

  @inline(never) private static func print(_ month: Int) -> (start: UnsafeMutablePointer<CChar>, length: Int)? {
    var start: UnsafeMutablePointer<CChar>?
    var length = 0
    guard let stream = open_memstream(&start, &length) else { return nil }
    for line in 0..<40 { fputs("line \(line) of month \(month)\n", stream) }
    fclose(stream)
    return start.map { ($0, length) }
  }
}
