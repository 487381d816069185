// The names that suppressions are matched against.

import TraceReading
import TraceSymbolication

/// Collects the names of a finding. For one thread at a time.
package struct SuppressionNames {
  let definitions: TraceDefinitions
  let naming: any FrameNaming

  /// Returns the types, functions, modules, loaded images and source files on the finding's path and on its allocation
  /// stacks.
  package func names(of finding: Finding) -> [String] {
    var names: Set<String> = []
    func add(_ frame: SourceFrame) {
      names.insert(frame.function)
      names.insert(frame.fullFunction)
      for name in [frame.mangledName, frame.file, frame.imagePath] { if let name { names.insert(name) } }
    }
    if case .dangling(let ending?) = finding.evidence {
      names.insert(ending.type)
      names.insert(ending.qualifiedType)
      for moment in [ending.allocated, ending.freed, ending.used] { moment?.frames.forEach(add) }
    }
    for step in finding.path {
      names.insert(step.type)
      names.insert(step.qualifiedType)
      if let function = step.function { add(function) }
      if let closure = step.reference?.closure { add(closure) }
      for frame in definitions.stacks.path(of: step.stack).frames {
        naming.frames(for: frame.key, in: frame.image.map { definitions.images[$0].image }).forEach(add)
      }
    }
    return names.sorted()
  }
}
