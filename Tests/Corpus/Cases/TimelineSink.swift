// A sink that captures the screen whose set of cancellables keeps the sink alive.

final class TimelineScreen {
  private var cancellables: Set<Cancellable> = []
  private var posts: [Int] = []

  func bind(to subject: Subject<Int>) {
    subject.sink { self.posts.append($0) }.store(in: &cancellables)
  }

  func bindWeakly(to subject: Subject<Int>) {
    subject.sink { [weak self] in self?.posts.append($0) }.store(in: &cancellables)
  }

  var count: Int { posts.count }
}

enum TimelineSink: FaultyProgram {
  static func faulty() { for post in 0..<7 { open(post) } }
  static func correct() { for post in 0..<7 { openWeakly(post) } }

  @inline(never) private static func open(_ post: Int) {
    let subject = Subject<Int>()
    let screen = TimelineScreen()
    screen.bind(to: subject)
    subject.send(post)
    note(screen.count)
  }

  @inline(never) private static func openWeakly(_ post: Int) {
    let subject = Subject<Int>()
    let screen = TimelineScreen()
    screen.bindWeakly(to: subject)
    subject.send(post)
    note(screen.count)
  }
}
