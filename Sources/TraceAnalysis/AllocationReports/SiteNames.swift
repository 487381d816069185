// The names in a trace's allocation sites. They are suggested if a name on the command line matches nothing.

import TraceReading
import TraceSymbolication

/// Collects names, without duplicates and in the order of the sites.
package enum SiteNames {
  /// Returns the type names of allocated objects and, for untyped blocks, the names of the functions that allocated
  /// them. Linear in the sites.
  package static func types(_ analysis: AllocationAnalysis) -> [String] {
    unique(analysis.sites.lazy.map(analysis.typeName))
  }

  /// Returns the names of the functions in the stacks of the sites. Looks up each frame once.
  package static func functions(_ analysis: AllocationAnalysis, naming: any FrameNaming) -> [String] {
    unique(frames(analysis, naming).lazy.filter { $0.isNamed && $0.kind != .thunk }.map(\.function))
  }

  /// Returns the names of the Swift modules and loaded images in the stacks of the sites. Looks up each frame once.
  package static func modules(_ analysis: AllocationAnalysis, naming: any FrameNaming) -> [String] {
    unique(frames(analysis, naming).lazy.flatMap { [$0.swiftModule, $0.imageName].compactMap { $0 } })
  }

  private static func frames(_ analysis: AllocationAnalysis, _ naming: any FrameNaming) -> [SourceFrame] {
    let definitions = analysis.definitions
    var visited: Set<StackID> = []
    var seen: Set<StackFrame> = []
    var frames: [SourceFrame] = []
    for site in analysis.sites {
      var stack = site.stack
      while stack.rawValue > 1, visited.insert(stack).inserted {
        if let frame = definitions.stacks.frame(of: stack), seen.insert(frame).inserted {
          frames += naming.frames(for: frame.key, in: frame.image.map { definitions.images[$0].image })
        }
        stack = definitions.stacks.parent(of: stack)
      }
    }
    return frames
  }

  private static func unique(_ names: some Sequence<String>) -> [String] {
    var seen: Set<String> = []
    return names.filter { !$0.isEmpty && seen.insert($0).inserted }
  }
}
