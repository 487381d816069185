// Foundation never releases the attributes of an NSAttributedString (its pull request 5256): what they refer to stays. A text that is given none has nothing to keep.
import Foundation

final class Attachment: NSObject {
  private let file: String
  init(file: String) { self.file = file }
}

enum StyledNotes: FaultyProgram {
  static func faulty() { for number in 0..<6 { note(write(number, attaching: true)) } }
  static func correct() { for number in 0..<6 { note(write(number, attaching: false)) } }

  @inline(never) private static func write(_ number: Int, attaching: Bool) -> Int {
    let attachment = Attachment(file: "picture \(number).png")
    let text = attaching ? NSAttributedString(string: "note \(number)", attributes: [NSAttributedString.Key("attachment"): attachment]) : nil
    return text?.length ?? attachment.hash & 1
  }
}
