// Digests as files, so that a build can be compared when its trace and its binary no longer exist.

import AllocationReports
import FoundationEssentials
import LeakDetection

/// Reads and writes digests. A file is one JSON object, with the name and version of its schema before the digest.
/// Unknown fields are ignored.
package enum DigestFile {
  private static let schema = "leaktrace.digest"
  /// The schema's version. It is raised when a field changes its meaning or is removed.
  private static let version = 1

  /// The reasons why a file is not a valid digest.
  package enum Failure: Error, Hashable, Sendable {
    case newerVersion(found: Int, known: Int)
    /// The text describes the problem and its place in the file.
    case malformed(String)
  }

  private struct Document: Codable {
    var schema: String
    var schemaVersion: Int
    var digest: RunDigest
  }

  private struct Head: Codable {
    var schema: String
    var schemaVersion: Int
  }

  /// Returns whether a file begins like a digest. `start`: the first bytes of the file.
  package static func isDigest(_ start: some Sequence<UInt8>) -> Bool {
    start.starts(with: Array("{\"schema\":\"\(schema)\"".utf8))
  }

  /// Encodes a digest. Equal digests have equal bytes.
  package static func bytes(_ digest: RunDigest) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Write the schema here, because the encoder sorts fields and the schema must come first.
    let body = String(decoding: try encoder.encode(digest), as: UTF8.self)
    return Array("{\"schema\":\"\(schema)\",\"schemaVersion\":\(version),\"digest\":\(body)}\n".utf8)
  }

  /// Decodes the digest in a file. Nothing in it is trusted: invalid or circular references are errors.
  package static func digest(_ bytes: [UInt8]) throws(Failure) -> RunDigest {
    let data = Data(bytes)
    let decoder = JSONDecoder()
    do {
      let head = try decoder.decode(Head.self, from: data)
      guard head.schema == schema else { throw Failure.malformed("its schema is '\(head.schema)'") }
      guard head.schemaVersion >= 1 else { throw Failure.malformed("its version is \(head.schemaVersion)") }
      guard head.schemaVersion <= version else { throw Failure.newerVersion(found: head.schemaVersion, known: version) }
      let digest = try decoder.decode(Document.self, from: data).digest
      try check(digest)
      return digest
    } catch let failure as Failure {
      throw failure
    } catch let error as DecodingError {
      throw .malformed(words(error))
    } catch {
      throw .malformed("\(error)")
    }
  }

  private static func check(_ digest: RunDigest) throws(Failure) {
    for (index, node) in digest.stacks.enumerated() {
      guard digest.frames.indices.contains(Int(node.frame)), node.caller >= -1, node.caller < index else {
        throw .malformed("stack \(index) is of no frame, or called by a later one")
      }
    }
    for (index, site) in digest.sites.enumerated() {
      let isFrame = site.innermost == -1 || digest.frames.indices.contains(Int(site.innermost))
      let isStack = site.stack == -1 || digest.stacks.indices.contains(Int(site.stack))
      guard isFrame, isStack else { throw .malformed("site \(index) has no such stack or frame") }
    }
    for (index, estimate) in (digest.estimates ?? []).enumerated() {
      let isFrame = estimate.innermost == -1 || digest.frames.indices.contains(Int(estimate.innermost))
      let isStack = estimate.stack == -1 || digest.stacks.indices.contains(Int(estimate.stack))
      let errors = [estimate.allocated.error, estimate.live.error]
      guard isFrame, isStack, errors.allSatisfy((0...ByteEstimate.errorLimit).contains) else {
        throw .malformed("estimate \(index) has no such stack or frame, or no such error")
      }
    }
    // Reject counts that would overflow when a run's processes are added up.
    let count = 0...(1 << 48)
    for (index, entry) in (digest.findings ?? []).enumerated() {
      let finding = entry.finding
      guard !finding.path.isEmpty, finding.path.count == entry.allocations.count, count.contains(finding.instances),
        finding.places.allSatisfy({ count.contains($0.instances) }),
        finding.evidence.retention.map({ finding.path.indices.contains($0.suspect) }) ?? true,
        finding.evidence.growth.allSatisfy(count.contains),
        Self.moments(of: finding.evidence).allSatisfy({ moment in
          moment.userFrame.map { moment.frames.indices.contains($0) } ?? true
        })
      else { throw .malformed("finding \(index) does not fit its own path") }
    }
  }

  private static func moments(of evidence: Finding.Evidence) -> [Finding.Moment] {
    guard case .dangling(let ending?) = evidence else { return [] }
    return [ending.allocated, ending.freed, ending.used].compactMap(\.self)
  }

  private static func words(_ error: DecodingError) -> String {
    func place(_ context: DecodingError.Context) -> String {
      let path = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
      return path.isEmpty ? "" : " at \(path)"
    }
    return switch error {
    case .typeMismatch(_, let context): "another kind of value than expected\(place(context))"
    case .valueNotFound(_, let context): "no value\(place(context))"
    case .keyNotFound(let key, let context): "no '\(key.stringValue)'\(place(context))"
    case .dataCorrupted(let context): "its data is not valid\(place(context))"
    @unknown default: "it cannot be decoded"
    }
  }
}
