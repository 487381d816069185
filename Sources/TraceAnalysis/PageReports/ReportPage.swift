// One page with a whole report: it opens from a file, and needs nothing else.

import LeakDetection
import TraceReading
import TraceReports

/// A report as a self-contained HTML page, of one process, of several, or of a comparison.
///
/// The page has its data as JSON, which its script shows as text. A content security policy forbids it to load
/// anything, and to run any other script. Keeps only the text of its contents. A value.
package struct ReportPage: Sendable {
  private let toolVersion: String
  private var title: String?
  /// Data of each process, as JSON.
  private var processes: [String] = []
  private var comparison: String?
  private var series: String?

  package init(toolVersion: String) { self.toolVersion = toolVersion }

  /// Limits of nodes in the first process's trees. Further processes get fewer, so that a page about many processes can
  /// be opened.
  private static let treeLimits = (flame: FlameTree.standardLimit, heap: 4_000)
  private static let leastNodes = 500

  /// Adds a process. Reads source files.
  package mutating func add(_ process: ProcessPage) {
    let share = processes.count + 1
    let limits = (
      flame: max(Self.leastNodes, Self.treeLimits.flame / share),
      heap: max(Self.leastNodes, Self.treeLimits.heap / share)
    )
    processes.append(process.json(flameLimit: limits.flame, heapLimit: limits.heap).compactText)
    title = title ?? process.title
  }

  /// Makes it a page about a comparison. Reads source files.
  package mutating func set(_ comparison: ComparisonPage) {
    self.comparison = comparison.json(flameLimit: Self.treeLimits.flame).compactText
    title = comparison.title
  }

  /// Adds the growth from image to image; the process is the one of the newest image.
  package mutating func set(_ process: WatchedProcess, _ growth: SeriesGrowth) {
    series = SeriesJSON.growth(process, growth).compactText
  }

  /// The page. `title`: the page's title; nil uses the first process's program. `nonce`: 32 unpredictable hexadecimal
  /// digits that identify the page's own script and style. Linear in its contents.
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

  /// Escapes text for HTML: no character begins markup, in an element or in a quoted attribute.
  private static func markup(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
      .replacing("\"", with: "&quot;").replacing("'", with: "&#39;")
  }

  /// The parts of the page's script, in the order of their dependencies.
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

  /// JSON without HTML markup: the replaced characters occur in strings only. Invisible characters and text-direction
  /// marks become visible escapes, as in a terminal.
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
