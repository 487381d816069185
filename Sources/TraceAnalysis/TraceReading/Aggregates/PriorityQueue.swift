// A priority queue.

/// A binary heap with the least element first. Equal elements come out in any order. Insertion and removal take O(log
/// n).
package struct PriorityQueue<Element: Comparable> {
  private var elements: [Element] = []

  package init() {}

  package var first: Element? { elements.first }

  package mutating func insert(_ element: Element) {
    elements.append(element)
    var position = elements.count - 1
    while position > 0, elements[position] < elements[(position - 1) / 2] {
      elements.swapAt(position, (position - 1) / 2)
      position = (position - 1) / 2
    }
  }

  /// Removes the least element. The queue must not be empty.
  package mutating func removeFirst() {
    elements.swapAt(0, elements.count - 1)
    elements.removeLast()
    var position = 0
    while true {
      var least = position
      for child in [2 * position + 1, 2 * position + 2]
      where child < elements.count && elements[child] < elements[least] { least = child }
      if least == position { return }
      elements.swapAt(position, least)
      position = least
    }
  }
}
