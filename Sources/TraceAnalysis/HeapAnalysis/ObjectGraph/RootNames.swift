// Descriptions of roots for reports.

import TextWriting
import TraceReading

extension ObjectGraph {
  /// Returns a description of a root's memory. Traps if the node is a block.
  package func rootName(_ node: NodeID) -> String {
    switch root(node).kind {
    case .global(let image): "globals of \(fileName(ofPath: roots.images[image].path))"
    case .stack(let thread): "stack of thread \(snapshot.threads[thread].osThread)"
    case .registers(let thread): "registers of thread \(snapshot.threads[thread].osThread)"
    case .threadLocal(let thread): "thread-local variables of thread \(snapshot.threads[thread].osThread)"
    case .mapping: "mapped memory"
    case .unseen: "memory whose allocation was not seen"
    }
  }
}
