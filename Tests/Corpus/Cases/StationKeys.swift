// Keys of a dictionary that refer to the dictionary's owner.

final class Station: Hashable {
  let number: Int
  var network: RailNetwork?

  init(number: Int, network: RailNetwork?) {
    self.number = number
    self.network = network
  }

  static func == (left: Station, right: Station) -> Bool { left.number == right.number }
  func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

final class RailNetwork {
  private var distances: [Station: Int] = [:]

  func open(_ count: Int) {
    for number in 0..<count { distances[Station(number: number, network: self)] = number * 40 }
  }

  func close() {
    for station in distances.keys { station.network = nil }
  }

  var length: Int { distances.values.reduce(0, +) }
}

enum StationKeys: FaultyProgram {
  static func faulty() { for count in 0..<3 { plan(count + 2) } }
  static func correct() { for count in 0..<3 { planAndClose(count + 2) } }

  @inline(never) private static func plan(_ count: Int) {
    let network = RailNetwork()
    network.open(count)
    note(network.length)
  }

  @inline(never) private static func planAndClose(_ count: Int) {
    let network = RailNetwork()
    network.open(count)
    note(network.length)
    network.close()
  }
}
