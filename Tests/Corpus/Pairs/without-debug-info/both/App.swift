struct Coordinates { var x = 0, y = 0 }

final class Sprite {
  var moved: ((Coordinates) -> Void)?
  private var place = Coordinates()
  func follow() { moved = { self.place = $0 } }
}

@main enum App {
  static func main() { for number in 0..<10 { add(number) } }

  @inline(never) static func add(_ number: Int) {
    let sprite = Sprite()
    sprite.follow()
    sprite.moved?(Coordinates(x: number, y: number))
  }
}
