// Encodes and decodes JSON: many types, deep stacks through Foundation, strings, arrays and dictionaries.
// Usage: json ITEMS ROUNDS. Prints the number of items decoded.

import Foundation

struct Item: Codable {
  var id: Int
  var name: String
  var tags: [String]
  var attributes: [String: Double]
}

let count = Int(CommandLine.arguments[1])!
let rounds = Int(CommandLine.arguments[2])!
let items = (0..<count).map { index in
  Item(
    id: index, name: "name-\(index)-abcdefghijklmnopqrstuvwxyz", tags: ["a", "bbbbbbbbbbbbbbbbbbbbbbb", "c"],
    attributes: ["x": 1.0, "y": Double(index)])
}
let encoder = JSONEncoder()
let decoder = JSONDecoder()
var decoded = 0
for _ in 0..<rounds {
  let data = try encoder.encode(items)
  decoded += try decoder.decode([Item].self, from: data).count
}
print(decoded)
