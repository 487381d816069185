// Holds a text, which is its first argument, in every way that a program holds user data, and ends. The second way in is the environment.
import Foundation
import Glibc

final class Account {
  var password: String
  var bytes: [UInt8]
  var number: UInt64
  init(_ secret: String) {
    password = secret
    bytes = Array(secret.utf8)
    number = secret.utf8.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}

struct Pair { var first: String, second: Any }

let secret = CommandLine.arguments[1]
let short = String(secret.prefix(12))
var accounts = (0..<50).map { _ in Account(secret) }
accounts += (0..<50).map { _ in Account(short) }
var table: [String: String] = [secret: secret, short: short]
for i in 0..<100 { table["\(secret)\(i)"] = "\(i)\(secret)" }
var numbers: [UInt64: UInt64] = [:]
for account in accounts { numbers[account.number] = account.number }
var members: Set<String> = [secret, short]
let data = Data(secret.utf8) + Data(secret.utf8)
let small = Data(short.utf8)
var anything: [Any] = [secret, short, accounts[0], accounts[0].number, Pair(first: short, second: secret), data]
let buffer = strdup(secret)!
let aligned = UnsafeMutablePointer<UInt64>.allocate(capacity: 64)
for i in 0..<64 { aligned[i] = accounts[0].number }
weak var observed = accounts.first
var characters: Set<Character> = Set(secret)
var closure: () -> String = { [secret] in secret + short }
let freed = strdup(secret + secret)!
free(freed)
var utf16 = Array(secret.utf16)
let nsstring = NSMutableString(string: secret)
let task = Thread { [short] in while true { usleep(100_000); if short.isEmpty { break } } }
task.start()
print(accounts.count, table.count, numbers.count, members.count, data.count, small.count, anything.count, closure().count > 0, observed != nil)
exit(0)
