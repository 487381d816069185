// Lists that the C library builds and hands out, with a function of its own that frees them.
import Glibc

enum AddressLookups: FaultyProgram {
  static func faulty() { for number in 0..<5 { connect(number, freeing: false) } }
  static func correct() { for number in 0..<5 { connect(number, freeing: true) } }

  @inline(never) private static func connect(_ number: Int, freeing: Bool) {
    guard let addresses = resolve(8000 + number) else { return }
    note(Int(addresses.pointee.ai_addrlen))
    if freeing { freeaddrinfo(addresses) }
  }

  /// Of the loopback interface, which needs no server of names.
  @inline(never) private static func resolve(_ port: Int) -> UnsafeMutablePointer<addrinfo>? {
    var hints = addrinfo()
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
    hints.ai_family = AF_INET
    hints.ai_protocol = Int32(IPPROTO_TCP)
    var addresses: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo("127.0.0.1", "\(port)", &hints, &addresses) == 0 else { return nil }
    return addresses
  }
}
