final class Player {
  var tick: (() -> Void)?
  var position = 0
}

@main enum App {
  static func main() {
    for number in 0..<10 { start(number) }
    for number in 0..<7 { stop(number) }
  }

  @inline(never) static func start(_ number: Int) {
    let player = Player()
    player.tick = { player.position += number }
    player.tick?()
  }

  @inline(never) static func stop(_ number: Int) {
    let player = Player()
    player.tick = { player.position -= number }
    player.tick?()
  }
}
