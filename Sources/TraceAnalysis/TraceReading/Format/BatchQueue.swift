// Batches of events that one thread passes to another.

import Glibc

/// Passes a few batches back and forth between two threads: full batches to the thread that reads the events, and empty
/// ones back to the thread that fills them. So the filling thread is never ahead by more than the number of batches.
/// One thread uses `takeEmpty`, `putFull` and `end`; the other uses `takeFull` and `putEmpty`.
final class BatchQueue: @unchecked Sendable {
  private static let batchCount = 32
  /// A waiting thread waits until there are this many batches, because waking a thread costs more than a batch.
  private static let wakeCount = 12

  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var empty: [EventBatch] = (0..<batchCount).map { _ in EventBatch() }
  /// The oldest first.
  private var full: [EventBatch] = []
  private var hasEnded = false
  private var fillerWaits = false
  private var takerWaits = false

  init() {
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(changed, nil)
    full.reserveCapacity(Self.batchCount)
  }

  deinit {
    pthread_cond_destroy(changed)
    pthread_mutex_destroy(mutex)
    changed.deallocate()
    mutex.deallocate()
  }

  private func locked<Result>(_ body: () -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }

  /// Returns an empty batch. Waits if there is none.
  func takeEmpty() -> EventBatch {
    locked {
      if empty.isEmpty {
        fillerWaits = true
        while empty.count < Self.wakeCount { pthread_cond_wait(changed, mutex) }
        fillerWaits = false
      }
      return empty.removeLast()
    }
  }

  func putFull(_ batch: EventBatch) {
    locked {
      full.append(batch)
      if takerWaits, full.count >= Self.wakeCount { pthread_cond_broadcast(changed) }
    }
  }

  /// States that there will be no more full batches.
  func end() {
    locked {
      hasEnded = true
      pthread_cond_broadcast(changed)
    }
  }

  /// Returns the oldest full batch. Waits if there is none; returns nil after `end`.
  func takeFull() -> EventBatch? {
    locked {
      if full.isEmpty {
        takerWaits = true
        while full.count < Self.wakeCount, !hasEnded { pthread_cond_wait(changed, mutex) }
        takerWaits = false
      }
      return full.isEmpty ? nil : full.removeFirst()
    }
  }

  func putEmpty(_ batch: EventBatch) {
    batch.removeAll()
    locked {
      empty.append(batch)
      if fillerWaits, empty.count >= Self.wakeCount { pthread_cond_broadcast(changed) }
    }
  }
}
