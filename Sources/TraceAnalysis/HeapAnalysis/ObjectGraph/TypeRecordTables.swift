// The Swift runtime's tables of types, found by the variables that hold them.

import PlatformRules
import TraceReading
import TraceSymbolication

/// Blocks that hold only type records, found by the variables of the Swift runtime that lead to them. If the allocation
/// of a block was not recorded, only the variable shows the block's contents. Without this type, words that an earlier
/// use left in such a block would keep their targets.
///
/// Blocks that only other tables lead to are not included. The word that leads to such a block may be left over, and
/// the block may belong to the program.
package struct TypeRecordTables {
  private var addresses: Set<UInt64> = []

  private static let variables = RuleBook.shipped.table(.typeRecords, by: .variable)

  /// - Parameter isListed: returns whether a block's allocation was not recorded. Only such blocks are checked.
  ///
  /// Linear in the words of loaded images' variables. Looks up the names of variables that lead to listed blocks.
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
