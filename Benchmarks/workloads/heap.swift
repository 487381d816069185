// Builds a large heap of Swift objects, a known part of it leaked, and has images taken of it.
// Usage: heap ACCOUNTS READINGS LEAKEVERY
//
// An account is 21 blocks: objects that refer to one another, arrays, a dictionary, strings, a closure's context. Each
// of its orders keeps READINGS numbers. Of every LEAKEVERY accounts one is leaked: in turn by a closure that captures
// it, by a partner that it refers to and that refers to it, and by a count that nobody takes back.
//
// Prints a line when the heap stands, and then does what the lines of its input say:
//   snapshot      takes an image, and prints its number and how many nanoseconds the call took
//   write SECONDS writes to every account, over and over, for so long; prints how many writes, and how many nanoseconds
//   they took exit          prints the clock, and returns from main
// Another thread sleeps all the time, so that an image has somebody to stop.

import Glibc

final class Order {
  let number: Int
  var previous: Order?
  unowned let account: Account
  let readings: [Double]

  init(_ number: Int, previous: Order?, account: Account, readings: Int) {
    self.number = number
    self.previous = previous
    self.account = account
    self.readings = Array(repeating: Double(number) + 0.5, count: readings)
  }
}

final class Account {
  let number: Int
  let name: String
  var orders: [Order] = []
  var totals: [Int: Int] = [:]
  var partner: Account?
  var whenPaid: ((Int) -> Void)?
  var visits = 0

  init(_ number: Int) {
    self.number = number
    name = "account number \(number), and some words"
  }
}

/// What closures that do not leak have captured.
final class Ledger { var payments = 0 }

@inline(never)
func makeAccount(_ number: Int, readings: Int, ledger: Ledger) -> Account {
  let account = Account(number)
  var previous: Order?
  account.orders.reserveCapacity(8)
  for index in 0..<8 {
    let order = Order(number &* 8 &+ index, previous: previous, account: account, readings: readings)
    account.orders.append(order)
    previous = order
  }
  for index in 0..<4 { account.totals[number &+ index] = index }
  account.whenPaid = { ledger.payments += $0 + number }
  return account
}

@inline(never)
func leakByClosure(_ account: Account, _ other: Int) { account.whenPaid = { account.visits += $0 + other } }

@inline(never)
func leakByPartner(_ account: Account, _ other: Account) {
  account.partner = other
  other.partner = account
}

@inline(never)
func leakByCount(_ account: Account) { _ = Unmanaged.passRetained(account) }

/// The heap that is not leaked.
final class Registry {
  var accounts: [Account] = []
  var byNumber: [Int: Account] = [:]
  let ledger = Ledger()
}

struct Leaked { var closures = 0, partners = 0, counts = 0 }

@inline(never)
func build(_ registry: Registry, accounts: Int, readings: Int, leakEvery: Int) -> Leaked {
  var leaked = Leaked()
  var number = 0
  registry.accounts.reserveCapacity(accounts)
  while number < accounts {
    let account = makeAccount(number, readings: readings, ledger: registry.ledger)
    number += 1
    guard number % leakEvery == 0 else {
      if let last = registry.accounts.last, number % 4 == 0 { account.partner = last }
      if number % 16 == 0 { registry.byNumber[number] = account }
      registry.accounts.append(account)
      continue
    }
    switch number / leakEvery % 3 {
    case 0:
      leakByClosure(account, number)
      leaked.closures += 1
    case 1:
      leakByPartner(account, makeAccount(number, readings: readings, ledger: registry.ledger))
      number += 1
      leaked.partners += 1
    default:
      leakByCount(account)
      leaked.counts += 1
    }
  }
  return leaked
}

/// How many accounts were written to, and how long it took.
@inline(never)
func write(_ registry: Registry, nanoseconds limit: UInt64, next: inout Int) -> (count: Int, nanoseconds: UInt64) {
  let begin = nanoseconds()
  var (count, taken) = (0, UInt64(0))
  while taken < limit {
    for _ in 0..<256 {
      registry.accounts[next].visits &+= 1
      next = next + 1 == registry.accounts.count ? 0 : next + 1
    }
    count += 256
    taken = nanoseconds() - begin
  }
  return (count, taken)
}

func nanoseconds() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

func say(_ line: String) {
  print(line)
  fflush(stdout)
}

/// Below it stand no frames that built the heap, so that nothing they left behind is taken for a reference.
@inline(never)
func serve(_ registry: Registry) {
  typealias Snapshot = @convention(c) (UnsafePointer<CChar>?) -> CInt
  let snapshot = dlsym(nil, "leaktrace_snapshot").map { unsafeBitCast($0, to: Snapshot.self) }
  var next = 0
  while let line = readLine() {
    let words = line.split(separator: " ")
    switch words.first {
    case "snapshot":
      let begin = nanoseconds()
      let number = snapshot?("asked") ?? 0
      say("snapshot \(number) \(nanoseconds() - begin)")
    case "write":
      let done = write(registry, nanoseconds: UInt64(Double(words[1])! * 1e9), next: &next)
      say("written \(done.count) \(done.nanoseconds)")
    default: return
    }
  }
}

var sleeper = pthread_t()
pthread_create(&sleeper, nil, { _ in while true { pause() } }, nil)

let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
let registry = Registry()
let begin = nanoseconds()
let leaked = build(registry, accounts: arguments[0], readings: arguments[1], leakEvery: arguments[2])
say("built \(nanoseconds() - begin) closures \(leaked.closures) partners \(leaked.partners) counts \(leaked.counts)")
serve(registry)
say("exit \(nanoseconds())")
