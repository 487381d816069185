// A page with a whole report. It opens from a file and needs no other file.

import LeakDetection
import TextWriting
import TraceReading
import TraceReports

/// A report as a self-contained HTML page, about one process, several processes, or a comparison.
///
/// The page contains its data as JSON, and its script shows the data as text. A content security policy forbids the
/// page to load anything, or to run any other script. Until the page is written, only the JSON text is kept.
package struct ReportPage: Sendable {
  private let toolVersion: String
  private var title: String?
  /// The data of each process, as JSON.
  private var processes: [String] = []
  private var comparison: String?
  private var series: String?

  package init(toolVersion: String) { self.toolVersion = toolVersion }

  /// Maximum numbers of nodes in the trees of the first process. Further processes get fewer nodes, so that a browser
  /// can open a page about many processes.
  private static let treeLimits = (flame: FlameTree.standardLimit, heap: 4_000)
  private static let minNodes = 500

  /// Adds a process. Reads source files.
  package mutating func add(_ process: ProcessPage) {
    let share = processes.count + 1
    let limits = (
      flame: max(Self.minNodes, Self.treeLimits.flame / share),
      heap: max(Self.minNodes, Self.treeLimits.heap / share)
    )
    processes.append(process.json(flameLimit: limits.flame, heapLimit: limits.heap).compactText)
    title = title ?? process.title
  }

  /// Makes this a page about a comparison. Reads source files.
  package mutating func set(_ comparison: ComparisonPage) {
    self.comparison = comparison.json(flameLimit: Self.treeLimits.flame).compactText
    title = comparison.title
  }

  /// Adds the growth from one heap image to the next. The newest heap image must be of the page's process.
  package mutating func set(_ process: WatchedProcess, _ growth: SeriesGrowth) {
    series = SeriesJSON.growth(process, growth).compactText
  }

  /// Returns the page. `title`: the page's title; nil for the name of the first process's program. `nonce`: 32
  /// unpredictable hexadecimal digits that identify the page's own script and style. Linear in the page's contents.
  package func html(title other: String? = nil, nonce: String = Self.nonce()) -> String {
    let title = PlainText.escaped(other ?? title ?? "no process")
    let data =
      "{\"version\":\(JSONValue.string(toolVersion).compactText),\"title\":\(JSONValue.string(title).compactText),"
      + "\"processes\":[\(processes.joined(separator: ","))],\"comparison\":\(comparison ?? "null"),"
      + "\"series\":\(series ?? "null")}"
    return """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'nonce-\(nonce)'; style-src 'nonce-\(nonce)'; base-uri 'none'; form-action 'none'">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <title>\(Self.markup("\(title): leaktrace"))</title>
      <style nonce="\(nonce)">
      \(String(decoding: PackageResources.page_css, as: UTF8.self))</style>
      </head>
      <body>
      <a class="skip" href="#main">Skip to the report</a>
      <header>
      <h1 id="program"></h1>
      <nav aria-label="Views" id="tabs"></nav>
      <button type="button" id="theme">Dark</button>
      </header>
      <main id="main" tabindex="-1"><noscript>This page shows its data by its own script, which your browser does not run.</noscript></main>
      <footer id="footer"></footer>
      <script type="application/json" id="data">\(Self.embedded(data))</script>
      <script nonce="\(nonce)">
      \(Self.script)</script>
      </body>
      </html>

      """
  }

  /// Escapes text for HTML, so that no character begins markup in an element or in a quoted attribute.
  private static func markup(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
      .replacing("\"", with: "&quot;").replacing("'", with: "&#39;")
  }

  /// The parts of the page's script, each after the parts that it depends on.
  private static let script: String = {
    let parts = [
      PackageResources.elements_js, PackageResources.overview_js, PackageResources.findings_js,
      PackageResources.flame_js, PackageResources.types_js, PackageResources.estimates_js, PackageResources.threads_js,
      PackageResources.comparison_js, PackageResources.growth_js, PackageResources.page_js,
    ]
    return "\"use strict\";\n(() => {\n" + parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
      + "})();\n"
  }()

  package static func nonce() -> String {
    let digits =
      String(UInt64.random(in: .min ... .max), radix: 16) + String(UInt64.random(in: .min ... .max), radix: 16)
    return String(repeating: "0", count: max(0, 32 - digits.count)) + digits
  }

  /// Returns JSON without HTML markup. The replaced characters occur only in strings. Invisible characters and
  /// text-direction marks become visible escapes, as in a terminal.
  static func embedded(_ json: String) -> String {
    let text = json.replacing("&", with: "\\u0026").replacing("<", with: "\\u003c").replacing(">", with: "\\u003e")
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
    var shown = ""
    for scalar in text.unicodeScalars {
      if scalar.isASCII || PlainText.isShown(scalar) {
        shown.unicodeScalars.append(scalar)
      } else {
        shown += "\\\\u{\(String(scalar.value, radix: 16))}"
      }
    }
    return shown
  }
}
