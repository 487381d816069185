// A timer that repeats for ever captures the view model of a screen that was closed long ago.
import Foundation

final class QuoteViewModel: @unchecked Sendable {
  private let symbol: String
  private var quotes: [Double] = []
  private var timer: Timer?

  init(symbol: String) { self.symbol = symbol }

  /// What the block captures stays until the run loop gives the timer up.
  func startRefreshing() {
    timer = Timer.scheduledTimer(withTimeInterval: 0.005, repeats: true) { _ in self.refresh() }
  }

  /// Weakly, for on Linux not even a timer that was invalidated lets go of its block.
  func startRefreshingWeakly() {
    timer = Timer.scheduledTimer(withTimeInterval: 0.005, repeats: true) { [weak self] _ in self?.refresh() }
  }

  func close() {
    timer?.invalidate()
    timer = nil
  }

  private func refresh() {
    quotes.append(Double(quotes.count + symbol.count))
    note(quotes.count)
  }
}

final class QuoteScreen {
  let viewModel: QuoteViewModel
  init(symbol: String) { viewModel = QuoteViewModel(symbol: symbol) }
}

enum RepeatingTimer: FaultyProgram {
  private static let symbols = ["AAA", "BBB", "CCC", "DDD", "EEE", "FFF", "GGG", "HHH", "III", "JJJ", "KKK", "LLL"]

  static func faulty() {
    for symbol in symbols { showAndForget(symbol) }
    turnRunLoop(milliseconds: 20)
    settle()
  }

  static func correct() {
    for symbol in symbols { showAndClose(symbol) }
    turnRunLoop(milliseconds: 20)
    settle()
  }

  @inline(never) private static func showAndForget(_ symbol: String) {
    let screen = QuoteScreen(symbol: symbol)
    screen.viewModel.startRefreshing()
    turnRunLoop(milliseconds: 15)
  }

  @inline(never) private static func showAndClose(_ symbol: String) {
    let screen = QuoteScreen(symbol: symbol)
    screen.viewModel.startRefreshingWeakly()
    turnRunLoop(milliseconds: 15)
    screen.viewModel.close()
  }
}
