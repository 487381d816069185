// Batches of events on their way from one thread to another.

import Glibc

/// A few batches that go round: empty ones to the thread that fills them, full ones to the thread that takes their
/// events. So the filling thread is never further ahead than there are batches. For two threads, each with its own end.
final class BatchQueue: @unchecked Sendable {
  private static let batchCount = 32
  /// A thread that has to wait does so until several batches are there: waking a thread costs more than a batch.
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

  /// An empty batch, once there is one.
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

  /// Says that no more full batches come.
  func end() {
    locked {
      hasEnded = true
      pthread_cond_broadcast(changed)
    }
  }

  /// The oldest full batch, once there is one; nil at the end.
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
