// Encodes findings in files. A file stores their advice as sentences.

import LeakDetection
import Wording

extension Finding: Codable {
  package init(from decoder: any Decoder) throws {
    guard let finding = try FindingRecord(from: decoder).finding else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "a finding without the facts of its verdict"))
    }
    self = finding
  }

  package func encode(to encoder: any Encoder) throws {
    try FindingRecord(self, advice: advice.map(AdviceWords.sentence), ownerReason: owner.reason).encode(to: encoder)
  }
}
