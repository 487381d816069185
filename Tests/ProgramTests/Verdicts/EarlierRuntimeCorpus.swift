// The part of the corpus that can run with the runtime of an earlier Swift, which has fewer libraries than the
// toolchain.

import Foundation

enum EarlierRuntimeCorpus {
  /// Modules whose libraries the earlier runtime does not include.
  private static let missing: Set<Substring> = ["Foundation", "FoundationNetworking", "Dispatch", "Observation"]

  /// The names of the programs that import none of these modules.
  static let names: Set<String> = {
    guard let main = try? String(contentsOfFile: mainPath, encoding: .utf8) else { return [] }
    return Set(entries(of: main, in: declarations((try? usable(allSources())) ?? [])).map(\.name))
  }()

  /// Returns the sources that import none of these modules. Writes a list of the remaining programs to `directory`, in
  /// place of the corpus's list.
  static func sources(of sources: [String], in directory: String) throws -> [String] {
    let usable = try usable(sources.filter { $0 != mainPath })
    let kept = entries(of: try String(contentsOfFile: mainPath, encoding: .utf8), in: declarations(usable))
    let main = try String(contentsOfFile: mainPath, encoding: .utf8)
    let known = Set(kept.map(\.line))
    let lines = main.split(separator: "\n", omittingEmptySubsequences: false)
    // Programs inside conditions on the linkage need missing modules.
    let conditional = lines.firstIndex { $0.hasPrefix("#if") }.flatMap { start in
      lines[start...].firstIndex { $0.hasPrefix("#endif") }.map { start...$0 }
    }
    let text = lines.indices.filter {
      conditional?.contains($0) != true && (!lines[$0].contains(".self,") || known.contains(lines[$0]))
    }.map { lines[$0] }
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let path = directory + "/main.swift"
    try Data(text.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: path))
    return usable + [path]
  }

  private static let mainPath = CorpusCase.directory + "/main.swift"

  private static func allSources() throws -> [String] {
    try ["", "/Cases", "/CleanPrograms"].flatMap { folder in
      try FileManager.default.contentsOfDirectory(atPath: CorpusCase.directory + folder).filter {
        $0.hasSuffix(".swift")
      }.map { "\(CorpusCase.directory)\(folder)/\($0)" }
    }.filter { $0 != mainPath }
  }

  private static func usable(_ sources: [String]) throws -> [String] {
    try sources.filter { path in
      try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").allSatisfy { line in
        let words = line.split(separator: " ")
        guard let place = words.firstIndex(of: "import"), place <= 1, words.count > place + 1 else { return true }
        return !missing.contains(words[place + 1])
      }
    }
  }

  /// The names of the types that the sources declare.
  private static func declarations(_ sources: [String]) -> Set<Substring> {
    var found: Set<Substring> = []
    for path in sources {
      let words = ((try? String(contentsOfFile: path, encoding: .utf8)) ?? "").split {
        !$0.isLetter && !$0.isNumber && $0 != "_"
      }
      for (keyword, name) in zip(words, words.dropFirst()) where ["enum", "struct", "class", "actor"].contains(keyword)
      { found.insert(name) }
    }
    return found
  }

  /// Returns the lines of main.swift that list a program of one of the types.
  private static func entries(of main: String, in types: Set<Substring>) -> [(name: String, line: Substring)] {
    main.split(separator: "\n").compactMap { line in
      let parts = line.split(separator: "\"")
      guard line.hasPrefix("  \""), parts.count == 3, let type = parts[2].dropFirst(2).split(separator: ".").first,
        types.contains(type)
      else { return nil }
      return (String(parts[1]), line)
    }
  }
}
