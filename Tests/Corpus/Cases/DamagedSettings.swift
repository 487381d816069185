// Foundation loses what it has read of a property list when the rest is damaged.
import Foundation

enum DamagedSettings: FaultyProgram {
  private static let whole = "<plist version=\"1.0\"><dict><key>columns</key><array><string>name</string></array></dict></plist>"

  static func faulty() { for _ in 0..<5 { read(String(whole.prefix(60))) } }
  static func correct() { for _ in 0..<5 { read(whole) } }

  @inline(never) private static func read(_ text: String) {
    let settings = try? PropertyListSerialization.propertyList(from: Data(text.utf8), options: [], format: nil)
    note((settings as? [String: Any])?.count ?? 0)
  }
}
