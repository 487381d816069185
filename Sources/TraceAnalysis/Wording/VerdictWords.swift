// Verdicts in words.

import LeakDetection

/// A verdict in words: the heading of a report, a title, and explanations for readers who do not know the
/// documentation.
package struct VerdictWords {
  /// The heading in a text report, such as `RETAIN CYCLE`.
  package private(set) var heading: String
  /// The title, such as `Retain cycle`.
  package private(set) var title: String
  /// The words within a sentence, such as `a retain cycle`.
  package let inSentence: String
  /// A short explanation: one sentence.
  package private(set) var short: String
  package private(set) var full: String
  /// The remedy.
  package private(set) var help: String

  /// Words for a finding's evidence, which can be more specific than the words for its verdict.
  package init(_ evidence: Finding.Evidence) {
    self.init(evidence.verdict)
    switch evidence {
    case .dangling(let ending):
      if ending?.used != nil { (heading, title) = ("USED AFTER ITS END", "Used after its end") }
    case .images:
      (heading, title) = ("GROWS FROM IMAGE TO IMAGE", "Grows from image to image")
      short = "The same holder had more in each part of the time that the process was watched."
      full =
        "Heap images of the running process were compared. The contents of this holder grew throughout, by more than its normal variation, and did not level off."
      help = "Remove elements from the collection when they are no longer needed, or limit its size."
    case .unreachable, .deinitialised, .suspected, .stated, .repeated: break
    }
  }

  package init(_ verdict: Verdict) {
    switch verdict {
    case .retainCycle:
      (heading, title, inSentence) = ("RETAIN CYCLE", "Retain cycle", "a retain cycle")
      short = "Objects hold one another, and nothing else can reach them."
      full =
        "Strong references lead in a circle that no global, stack or other live object leads to. Its objects will never be freed."
      help =
        "Make one reference of the circle weak, or clear it when its owner is done. A closure that is stored should capture its owner weakly."
    case .lost:
      (heading, title, inSentence) = ("LOST", "Lost", "lost")
      short = "Nothing refers to the memory any more, and it was not freed."
      full =
        "No reference to the object or block was found in memory, though its reference count is above zero, or it was not freed."
      help =
        "Look for a retain without a release (Unmanaged.passRetained without takeRetainedValue), or memory that is allocated and not deallocated."
    case .deinitialised:
      (heading, title, inSentence) = (
        "DEINITIALISED, STILL HELD", "Deinitialised, still held", "deinitialised and still held"
      )
      short = "The object's deinit has run, and unowned references keep its memory."
      full =
        "The object is gone, but its memory stays for as long as unowned references to it are left. Reading one of them ends the program."
      help = "Make the unowned reference weak, or let its holder end before the object does."
    case .suspended:
      (heading, title, inSentence) = ("SUSPENDED FOREVER", "Suspended for ever", "suspended for ever")
      short = "A task waits for something that can no longer happen."
      full =
        "The task is suspended, and nothing could resume it except objects that only the task keeps alive."
      help = "Resume every continuation exactly once, finish streams, and cancel tasks when their owners end."
    case .dangling:
      (heading, title, inSentence) = ("DANGLING REFERENCE", "Dangling reference", "a dangling reference")
      short = "Something refers to memory that has been freed."
      full =
        "A live object holds, or code used, a reference that is not counted to an object that has ended. Its memory may belong to another object by now."
      help = "Clear the reference when its target ends, make it weak, or keep the target."
    case .outlived:
      (heading, title, inSentence) = ("OUTLIVED ITS SCOPE", "Outlived its scope", "outliving its scope")
      short = "The object is still held after the work it was made for has ended."
      full =
        "Nearly all objects made by the same code end with the work they were made for, or the program said that this one should. Something still holds it."
      help = "Remove the object from what holds it when its work ends."
    case .accumulating:
      (heading, title, inSentence) = ("ACCUMULATING", "Accumulating", "accumulating")
      short = "The number of objects of one kind grows, and none of them ends."
      full =
        "None of the objects made by this code ended, and their number grows with the work done. Their holder only grows."
      help = "Remove elements from the collection when they are no longer needed, or limit its size."
    case .growing:
      (heading, title, inSentence) = ("GROWS WITH EACH ROUND", "Grows with each round", "growing with each round")
      short = "The same work was repeated, and each time the same holder had more."
      full =
        "Heap images were taken after each round of work that was repeated. From the third round on, each left more in the same place than the one before."
      help =
        "Remove the objects of a round when its work ends, or give the collection a limit that the first two rounds reach."
    }
  }
}
