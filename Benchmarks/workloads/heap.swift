// Builds a large heap of Swift objects with a known number of leaks, and takes images of it.
// Usage: heap ACCOUNTS READINGS LEAKEVERY
//
// An account has 21 blocks: objects that refer to one another, arrays, a dictionary, strings, a closure's context. Each
// of its orders has READINGS numbers. One of LEAKEVERY accounts leaks. Three kinds of leaks alternate: a closure that
// captures its account, a cycle with a partner, and a retain without a release.
//
// Prints a line when the heap is complete. Then reads commands, one per line:
//   snapshot       Takes an image. Prints its number and the nanoseconds of the call.
//   write SECONDS  Writes to all accounts repeatedly for this time. Prints the number of writes and their nanoseconds.
//   exit           Prints the time of the monotonic clock, and returns from main.
// A second thread sleeps all the time, so that an image has a thread to stop.

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

/// Captured by the closures that do not leak.
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

/// Holds the accounts that do not leak.
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

/// Writes to accounts until the time limit. Returns the number of writes and the elapsed nanoseconds.
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

/// Not inlined: its stack must not contain values from building the heap, which an image would take as references.
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
