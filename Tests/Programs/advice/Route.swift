// Structures in an array that refer to the array's owner.

struct Leg {
  #if MENDED
    weak var route: Route?
  #else
    var route: Route?
  #endif
  var length: Int
}

final class Route {
  private var legs: [Leg] = []

  @inline(never) func add(_ length: Int) { legs.append(Leg(route: self, length: length)) }

  @inline(never) static func plan() {
    for _ in 0..<4 {
      let route = Route()
      for length in 1..<4 { route.add(length) }
      if route.legs.allSatisfy({ $0.length > 10 }) { print(route.legs.count) }
    }
  }
}
