// A document of XML and the nodes that were looked up in it keep each other, in Foundation, unless each is detached (noted in the review of its pull request 1664). Who reads events has no
// document.
import Foundation
import FoundationXML

final class FeedReader: NSObject, XMLParserDelegate {
  private var titles = 0

  func read(_ text: String) -> Int {
    let parser = XMLParser(data: Data(text.utf8))
    parser.delegate = self
    return parser.parse() ? titles : 0
  }

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?, attributes: [String: String]
  ) {
    if name == "title" { titles += 1 }
  }
}

enum FeedDocuments: FaultyProgram {
  private static let feed = "<feed><entry><title>One</title></entry><entry><title>Two</title></entry></feed>"

  static func faulty() { for _ in 0..<5 { note(lookUp(feed)) } }
  static func correct() { for _ in 0..<5 { note(FeedReader().read(feed)) } }

  @inline(never) private static func lookUp(_ text: String) -> Int {
    let document = try? XMLDocument(xmlString: text)
    return (try? document?.nodes(forXPath: "//title"))?.count ?? 0
  }
}
