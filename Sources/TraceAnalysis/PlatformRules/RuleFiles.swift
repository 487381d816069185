// The files of rules that come with leaktrace. The package manager embeds their bytes in the program.

/// A file of rules.
package struct RuleFile: Hashable, Sendable {
  package var name: String
  package var text: String

  package init(name: String, text: String) { (self.name, self.text) = (name, text) }

  fileprivate init(_ name: String, _ bytes: [UInt8]) {
    self.init(name: name, text: String(decoding: bytes, as: UTF8.self))
  }
}

package enum RuleFiles {
  /// The files in lookup order. A test checks that every file of the folder is here.
  package static var shipped: [RuleFile] {
    [
      RuleFile("dispatch.rules", PackageResources.dispatch_rules),
      RuleFile("swift.rules", PackageResources.swift_rules),
      RuleFile("foundation.rules", PackageResources.foundation_rules),
      RuleFile("testing.rules", PackageResources.testing_rules),
      RuleFile("c-library.rules", PackageResources.c_library_rules),
      RuleFile("c-plus-plus.rules", PackageResources.c_plus_plus_rules),
      RuleFile("nio.rules", PackageResources.nio_rules),
      RuleFile("others.rules", PackageResources.others_rules),
    ]
  }
}
