// JSON, XML and property values, coded and decoded.
import Foundation
#if canImport(FoundationXML)
  import FoundationXML
#endif

struct Order: Codable {
  var number: Int
  var lines: [String]
  var discounts: [String: Double]
}

enum JSONCoding: CleanProgram {
  static func correct() {
    let orders = (0..<50).map { Order(number: $0, lines: ["bread", "milk \($0)"], discounts: ["early": 0.5]) }
    guard let data = try? JSONEncoder().encode(orders), let back = try? JSONDecoder().decode([Order].self, from: data) else { return }
    note(back.count)
    guard let object = try? JSONSerialization.jsonObject(with: data) as? [[String: Any]] else { return }
    note(object.count)
  }
}

final class HeadlineReader: NSObject, XMLParserDelegate {
  private(set) var headlines = 0
  func parser(
    _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName: String?,
    attributes: [String: String]
  ) { headlines += elementName == "title" ? 1 : 0 }
}

enum XMLReading: CleanProgram {
  static func correct() {
    let items = (0..<20).map { "<item id=\"\($0)\"><title>News \($0)</title></item>" }.joined()
    let parser = XMLParser(data: Data("<feed>\(items)</feed>".utf8))
    let reader = HeadlineReader()
    parser.delegate = reader
    note(parser.parse() ? reader.headlines : 0)
  }
}
