// A cycle through one of several states that hold the same type of object, in boxes of their own: the state is neither the first nor the last.

indirect enum PlaybackState {
  case loading(Deck)
  case cued(Deck, second: Int)
  case playing(Deck)
  case failed(Deck, code: Int)
  case idle
}

final class Deck {
  let mixer: Mixer
  var second = 0
  init(mixer: Mixer) { self.mixer = mixer }
}

final class Mixer {
  private var state = PlaybackState.idle

  func play() {
    state = .loading(Deck(mixer: self))
    if case .loading(let deck) = state { state = .cued(deck, second: deck.second) }
    if case .cued(let deck, let second) = state {
      note(second)
      state = .playing(deck)
    }
  }

  func stop() { state = .idle }
}

enum PlaybackStates: FaultyProgram {
  static func faulty() { for _ in 0..<4 { play(stops: false) } }
  static func correct() { for _ in 0..<4 { play(stops: true) } }

  @inline(never) private static func play(stops: Bool) {
    let mixer = Mixer()
    mixer.play()
    use(mixer)
    if stops { mixer.stop() }
  }
}
