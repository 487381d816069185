// A mailbox that is a linked list: its reader takes letters from the front, and a fault stops it.
import Foundation

private final class Letter {
  let text: String
  var next: Letter?
  init(number: Int) { text = "level \(number) at the gauge of the harbour" }
}

private final class Mailbox {
  private var front: Letter?
  private var back: Letter?

  @inline(never) func append(_ number: Int) {
    let letter = Letter(number: number)
    if let back { back.next = letter } else { front = letter }
    back = letter
  }

  func takeFirst() -> Letter? {
    guard let letter = front else { return nil }
    front = letter.next
    if front == nil { back = nil }
    return letter
  }
}

private final class Station {
  nonisolated(unsafe) static let all = [Station(faultAt: 120), Station(faultAt: nil)]
  private let mailbox = Mailbox()
  private let faultAt: Int?
  private var characters = 0
  private var isFaulty = false

  init(faultAt: Int?) { self.faultAt = faultAt }

  func measure(_ number: Int, mayFail: Bool) {
    mailbox.append(number)
    if mayFail, number == faultAt { isFaulty = true }
    guard number % 4 == 3, !isFaulty else { return }
    for _ in 0..<4 {
      if let letter = mailbox.takeFirst() { characters += letter.text.count }
    }
  }
}

enum StationMailboxes: FaultyProgram {
  static func faulty() { run(mayFail: true) }
  static func correct() { run(mayFail: false) }

  private static func run(mayFail: Bool) {
    for number in 0..<602 {
      for station in Station.all { station.measure(number, mayFail: mayFail) }
    }
  }
}
