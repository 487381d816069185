// Suppression files that are named on the command line.

import ArgumentParser
import Foundation
import TraceAnalysis

enum SuppressionFiles {
  /// The patterns of all files. Complains, and throws an exit status, if one cannot be read.
  static func read(_ paths: [String]) throws -> Suppressions {
    var patterns = Suppressions()
    for path in paths {
      guard let bytes = FileManager.default.contents(atPath: path) else {
        complain("cannot read the suppressions in \(path). Give a file of 'leak:PATTERN' lines.")
        throw ExitStatus.usage.code
      }
      do throws(SuppressionSyntaxError) {
        patterns.append(contentsOf: try Suppressions(parsing: String(decoding: bytes, as: UTF8.self), file: path))
      } catch {
        complain("\(error)")
        throw ExitStatus.usage.code
      }
    }
    return patterns
  }
}
