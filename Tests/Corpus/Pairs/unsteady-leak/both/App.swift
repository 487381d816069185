// Leaks five contacts, and as many calls as the first argument says: a number that differs from run to run.

final class Call {
  var ended: (() -> Void)?
  var seconds = [0]
}

final class Contact {
  var other: Contact?
}

@main enum App {
  static func main() {
    let leaking = argument(1, or: 0)
    for number in 0..<20 { call(leaks: number < leaking) }
    for _ in 0..<5 { meet() }
  }

  @inline(never) static func call(leaks: Bool) {
    let call = Call()
    call.ended = { note(call.seconds.count) }
    call.ended?()
    if !leaks { call.ended = nil }
  }

  @inline(never) static func meet() {
    let contact = Contact()
    contact.other = contact
    use(contact)
  }
}
