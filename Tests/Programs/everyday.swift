// Programs as people write them in an afternoon: all data in global variables, made in loops of the main code, and there until the end. Nothing is
// wrong with any of them.

import Foundation

final class Node {
  let key: Int
  var left: Node?
  var right: Node?
  init(_ key: Int) { self.key = key }
}

final class Tree {
  var root: Node?

  func insert(_ key: Int) {
    let node = Node(key)
    guard var current = root else {
      root = node
      return
    }
    while true {
      guard let next = key < current.key ? current.left : current.right else { break }
      current = next
    }
    if key < current.key { current.left = node } else { current.right = node }
  }

  func sum(_ node: Node?) -> Int { node.map { $0.key + sum($0.left) + sum($0.right) } ?? 0 }
}

final class Vertex {
  let id: Int
  var edges: [Vertex] = []
  var isSeen = false
  init(_ id: Int) { self.id = id }
}

final class Counter { var count = 0 }

final class Account {
  let id: Int
  var balance = 100
  var log: [String] = []
  init(_ id: Int) { self.id = id }
}

final class Event {
  let time: Int
  let what: String
  init(_ time: Int) {
    self.time = time
    what = "event number \(time) of the simulation"
  }
}

final class Cell {
  var isAlive: Bool
  var neighbours: [Cell] = []
  init(_ isAlive: Bool) { self.isAlive = isAlive }
}

final class Person: Codable {
  var name: String
  var age: Int
  var friends: [String]
  init(_ number: Int) {
    name = "person number \(number)"
    age = number % 90
    friends = (0..<3).map { "friend \($0) of number \(number)" }
  }
}

var seed: UInt64 = 7
func random(_ bound: Int) -> Int {
  seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
  return Int(seed >> 33) % bound
}

var tree = Tree()
var vertices: [Vertex] = []
var words: [String: Counter] = [:]
var accounts: [Int: Account] = [:]
var agenda: [Event] = []
var grid: [[Cell]] = []
var people: [Person] = []

switch CommandLine.arguments[1] {
case "tree":
  for _ in 0..<5000 { tree.insert(random(1_000_000)) }
  print(tree.sum(tree.root))
case "graph":
  for id in 0..<2000 { vertices.append(Vertex(id)) }
  for vertex in vertices { for _ in 0..<5 { vertex.edges.append(vertices[random(2000)]) } }
  var pending = [vertices[0]]
  var seen = 0
  while let vertex = pending.popLast() {
    if vertex.isSeen { continue }
    vertex.isSeen = true
    seen += 1
    pending += vertex.edges
  }
  print(seen)
case "words":
  for number in 0..<20000 {
    let word = "word number \(random(3000)) here"
    if words[word] == nil { words[word] = Counter() }
    words[word]!.count += number & 1
  }
  print(words.count)
case "bank":
  for id in 0..<500 { accounts[id] = Account(id) }
  for number in 0..<5000 {
    let from = accounts[random(500)]!
    let to = accounts[random(500)]!
    from.balance -= 1
    to.balance += 1
    if number % 10 == 0 { from.log.append("paid \(number) to \(to.id) for something") }
  }
  print(accounts.values.reduce(0) { $0 + $1.balance })
case "simulation":
  for time in 0..<100 { agenda.append(Event(time)) }
  for _ in 0..<5000 {
    agenda.sort { $0.time > $1.time }
    let event = agenda.removeLast()
    agenda.append(Event(event.time + 1 + random(100)))
  }
  print(agenda.count)
case "life":
  grid = (0..<60).map { _ in (0..<60).map { _ in Cell(random(3) == 0) } }
  for y in 0..<60 {
    for x in 0..<60 {
      for (dx, dy) in [(-1, 0), (1, 0), (0, 1), (0, -1)] { grid[y][x].neighbours.append(grid[(y + dy + 60) % 60][(x + dx + 60) % 60]) }
    }
  }
  for _ in 0..<50 {
    let next = grid.map { $0.map { cell in cell.neighbours.filter(\.isAlive).count == 2 } }
    for y in 0..<60 { for x in 0..<60 { grid[y][x].isAlive = next[y][x] } }
  }
  print(grid.joined().filter(\.isAlive).count)
case "json":
  let data = try! JSONEncoder().encode((0..<2000).map(Person.init))
  people = try! JSONDecoder().decode([Person].self, from: data)
  print(people.map(\.age).reduce(0, +))
case "filter":
  var old: [Person] = []
  for _ in 0..<5000 {
    let person = Person(random(100_000))
    if person.age > 80 { old.append(person) }
  }
  people = old
  print(people.map(\.name).sorted().prefix(2))
case "window":
  for number in 0..<300 {
    people.append(Person(number))
    if people.count > 50 { people.removeFirst() }
  }
  print(people.count)
default:
  exit(64)
}
