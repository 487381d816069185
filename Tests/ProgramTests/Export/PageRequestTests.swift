// Network requests of a page: there are none.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder), .requires(.program("chromium")), .serialized) struct PageRequestTests {
  /// A host name that does not resolve.
  private static let host = "leaktrace-page.invalid"
  /// Hosts of the browser's own services.
  private static let makers = ["google.com", "googleapis.com", "gvt1.com", "gstatic.com"]
  /// Elements that would make requests to another host.
  private static let beacon =
    "<img src=\"http://\(host)/image\"><link rel=\"stylesheet\" href=\"http://\(host)/style\">"
    + "<script src=\"http://\(host)/script\"></script>"

  private func page(in directory: TemporaryDirectory) throws -> String {
    let (trace, page) = (directory.path + "/a.trace", directory.path + "/page.html")
    let program = TestProgram(
      named: "feed-client", sources: ["feed-client/shared", "feed-client/leaky"], flags: ["-swift-version", "5"])
    #expect(
      try Command([BuildProducts.leaktrace, "record", "--quiet", "-o", trace, "--", try program.path(), "10"]).run()
        .end == .exit(0))
    #expect(try Command([BuildProducts.leaktrace, "report", trace, "-o", page]).run().end == .exit(0))
    return page
  }

  private func isForPage(_ request: String) -> Bool { request.contains(Self.host) }

  @Test("No view of a page sends a network request", .secondTier) func requests() throws {
    let directory = try TemporaryDirectory()
    let page = try page(in: directory)
    // The browser contacts its vendor's hosts on its own. The page does not refer to them.
    let text = try String(contentsOfFile: page, encoding: .utf8)
    for maker in Self.makers { #expect(!text.contains(maker)) }
    for view in ["overview", "findings", "flame", "types", "heap", "threads"] {
      let opened = try HeadlessBrowser.open("file://\(page)#\(view)")
      #expect(opened.complaints == [], "\(view)")
      #expect(opened.document.contains("<main"), "\(view)")
      let others = opened.requests.filter { request in
        !request.hasPrefix("file://") && !Self.makers.contains { request.contains($0) }
      }
      #expect(others == [], "\(view)")
    }
  }

  @Test("The page's policy blocks a request, and the test would detect one") func policy() throws {
    let directory = try TemporaryDirectory()
    let page = try page(in: directory)
    let text = try String(contentsOfFile: page, encoding: .utf8)
    let policy = try #require(text.firstRange(of: #/<meta http-equiv="Content-Security-Policy"[^>]*>/#))
    let body = try #require(text.range(of: "<body"))
    let inside = try #require(text.range(of: ">", range: body.upperBound..<text.endIndex)).upperBound
    #expect(policy.upperBound < body.lowerBound)

    let forged = text[..<inside] + Self.beacon + text[inside...]
    let forgedPage = directory.path + "/forged.html"
    try String(forged).write(toFile: forgedPage, atomically: true, encoding: .utf8)
    let kept = try HeadlessBrowser.open("file://\(forgedPage)")
    #expect(kept.requests.filter(isForPage).isEmpty)
    #expect(kept.complaints.filter { $0.contains("Content Security Policy") }.count >= 3, "\(kept.complaints)")

    let unprotected = text[..<policy.lowerBound] + text[policy.upperBound..<inside] + Self.beacon + text[inside...]
    try String(unprotected).write(toFile: forgedPage, atomically: true, encoding: .utf8)
    let requests = try HeadlessBrowser.open("file://\(forgedPage)").requests.filter(isForPage)
    for kind in ["image", "style", "script"] {
      #expect(requests.contains { $0.hasSuffix("/\(kind)") }, "\(requests)")
    }
  }
}
