// What the server sends.
import Foundation

struct Author: Codable, Hashable {
  var id: Int
  var name: String
  var avatar: String
}

struct Post: Codable, Identifiable {
  var id: Int
  var author: Author
  var text: String
  var likes: Int
  var tags: [String]
}

struct Page: Codable {
  var posts: [Post]
  var next: Int?
}

struct Message: Codable {
  var conversation: Int
  var sender: Author
  var text: String
}
