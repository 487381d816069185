// An array of existentials of a class-bound protocol, whose objects refer to the array's owner.

protocol EditorPlugin: AnyObject {
  func run() -> Int
}

final class SpellChecker: EditorPlugin {
  private let host: PluginHost
  init(host: PluginHost) { self.host = host }
  func run() -> Int { host.words }
}

final class WordCounter: EditorPlugin {
  private weak var host: PluginHost?
  init(host: PluginHost) { self.host = host }
  func run() -> Int { host?.words ?? 0 }
}

final class PluginHost {
  let words = 120
  private var plugins: [any EditorPlugin] = []
  func register(_ plugin: any EditorPlugin) { plugins.append(plugin) }
  func runAll() { note(plugins.reduce(0) { $0 + $1.run() }) }
}

enum EditorPlugins: FaultyProgram {
  static func faulty() { for _ in 0..<4 { edit() } }
  static func correct() { for _ in 0..<4 { editWeakly() } }

  @inline(never) private static func edit() {
    let host = PluginHost()
    host.register(WordCounter(host: host))
    host.register(SpellChecker(host: host))
    host.runAll()
  }

  @inline(never) private static func editWeakly() {
    let host = PluginHost()
    host.register(WordCounter(host: host))
    host.register(WordCounter(host: host))
    host.runAll()
  }
}
