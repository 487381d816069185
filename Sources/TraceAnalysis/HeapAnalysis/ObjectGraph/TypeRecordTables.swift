// The Swift runtime's tables of types, told by the variables that hold them.

import PlatformRules
import TraceReading
import TraceSymbolication

/// Blocks to which a variable of the Swift runtime's leads that has nothing but type records. Where nobody saw who
/// allocated a block, only the variable tells what is in it; the words that an earlier use left in it would keep their
/// targets.
///
/// Blocks to which only other tables lead are not among them: such a word may itself be left over, and the block at its
/// end the program's.
package struct TypeRecordTables {
  private var addresses: Set<UInt64> = []

  private static let variables = RuleBook.shipped.table(.typeRecords, by: .variable)

  /// - Parameter isListed: whether nobody saw a block being allocated. Only such blocks are looked at.
  ///
  /// Linear in the words of images' variables; those that lead to listed blocks are looked up by name.
  package init(
    heap: LiveHeap, image: HeapImage, roots: HeapRoots, naming: any FrameNaming, isListed: (LiveBlock) -> Bool
  ) {
    for root in roots.roots {
      guard case .global(let index) = root.kind else { continue }
      let owner = roots.images[index]
      for range in root.ranges {
        image.forEachWord(in: range) { place, word in
          guard let found = heap.block(containing: word), isListed(heap[found]),
            naming.variable(at: RuntimeAddress(place), in: owner).map(Self.variables.matches) ?? false
          else { return }
          addresses.insert(heap[found].address)
        }
      }
    }
  }

  package func contains(_ block: LiveBlock) -> Bool { addresses.contains(block.address) }
}
