// Parts of paths.

/// The part of a path after its last slash. O(length).
package func fileName(ofPath path: String) -> String {
  guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
  return String(path[path.utf8.index(after: slash)...])
}

/// The part of a path before its last slash; empty if there is no slash, or if the last slash is the first character.
/// O(length).
package func directory(ofPath path: String) -> String {
  guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "" }
  return String(path[..<slash])
}
