// Opens a page in a browser without a window.

import Foundation
import Testing

/// Chromium, with a profile of its own for each page that it opens.
struct HeadlessBrowser {
  /// The result of opening a page.
  struct Opened {
    /// The document once the page's script has run.
    var document: String
    /// The page's errors on the console: errors of its script, and violations of its content security policy.
    var complaints: [String]
    /// URLs and host names that the browser requested from a network, for the page or for itself.
    var requests: Set<String>
  }

  /// Opens a page, and waits for its load event. The page's script runs before that. `address`: a URL.
  static func open(_ address: String) throws -> Opened {
    let profile = try TemporaryDirectory()
    let log = profile.path + "/net-log.json"
    var arguments = [
      "chromium", "--headless=new", "--disable-gpu", "--disable-background-networking", "--no-first-run",
    ]
    // The browser's own sandbox does not run as root.
    if geteuid() == 0 { arguments.append("--no-sandbox") }
    let outcome = try Command(
      arguments + [
        "--user-data-dir=\(profile.path)/profile", "--log-net-log=\(log)", "--enable-logging=stderr",
        "--dump-dom", address,
      ]
    ).run()
    #expect(outcome.end == .exit(0), "\(outcome.errorOutput.suffix(1000))")
    return Opened(
      document: outcome.output,
      complaints: outcome.errorOutput.split(separator: "\n").map(String.init).filter { $0.contains("CONSOLE") },
      requests: try requests(inLog: try Data(contentsOf: URL(fileURLWithPath: log))))
  }

  private struct NetLog: Decodable {
    struct Event: Decodable {
      struct Parameters: Decodable {
        /// The URL of a request.
        var url: String?
        /// The host of a look-up.
        var host: String?
        private enum Name: String, CodingKey { case url, host }

        init(from decoder: any Decoder) throws {
          let values = try decoder.container(keyedBy: Name.self)
          // Other events use the same keys for values of other types.
          url = try? values.decode(String.self, forKey: .url)
          host = try? values.decode(String.self, forKey: .host)
        }
      }
      var params: Parameters?
    }
    var events: [Event]
  }

  private static func requests(inLog data: Data) throws -> Set<String> {
    let events = try JSONDecoder().decode(NetLog.self, from: data).events
    return Set(events.flatMap { [$0.params?.url, $0.params?.host].compactMap(\.self) })
  }
}
