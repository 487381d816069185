// Makes findings with names from verdicts.

import HeapAnalysis
import TraceReading
import TraceSymbolication

/// Names the results of `Verdicts`. This is the last step from a trace to findings. For one thread at a time.
struct NamedFindings {
  let verdicts: Verdicts
  let names: FindingNaming
  let lettingGo: LettingGo?
  let objectUses: ObjectUses?
  let partings: FamilyPartings?

  /// Returns all findings with advice, the program's findings first. `remark`: the reason why the ends of objects are
  /// uncertain. Reads the events once more if references dangle, and once more if findings need retains.
  func findings(in reader: TraceReader) -> (findings: [Finding], remark: String?) {
    let (groups, remark) = verdicts.groups(in: reader)
    let unreachable = FindingBuilder(verdicts.finder, groups: groups, naming: names).findings()
    let survivors = survivors
    let stated = survivors.scopeFindings() + survivors.expectationFindings()
    // The program's own statement about an object takes precedence over a conclusion.
    let concluded = survivors.findings().filter { finding in
      !stated.contains {
        $0.path.last?.qualifiedType == finding.path.last?.qualifiedType
          && $0.evidence.retention?.holder == finding.evidence.retention?.holder
      }
    }
    return (advised(FindingBuilder.sorted(unreachable + stated + concluded), in: reader), remark)
  }

  /// Returns only suspicions, with advice.
  func suspicions(in reader: TraceReader) -> [Finding] {
    advised(FindingBuilder.sorted(survivors.findings()), in: reader)
  }

  private var survivors: SurvivorFindings {
    SurvivorFindings(verdicts, naming: names, lettingGo: lettingGo, objectUses: objectUses, partings: partings)
  }

  /// Adds advice to findings. Reads the events once more if they need retains.
  private func advised(_ found: [Finding], in reader: TraceReader) -> [Finding] {
    var findings = found
    var evidence = AdviceEvidence(names)
    evidence.add(findings, verdicts.model, reader, names.naming)
    for index in findings.indices {
      if findings[index].evidence.retention == nil {
        findings[index].advice = Advice.advice(for: findings[index], evidence)
      } else if let address = findings[index].path.last?.address, let passage = evidence.passage(besides: address) {
        findings[index].advice.append(
          .held(
            .likeSiblings(
              at: passage.place, passed: passage.passed, freed: passage.freed,
              survivors: UInt64(clamping: findings[index].instances))))
      }
    }
    return findings
  }
}
