// Two threads lock two accounts in opposite order, and wait for one another. Prints `ready` and waits.

import Dispatch
import Glibc

final class Account: @unchecked Sendable {
  private var mutex = pthread_mutex_t()
  private var balance = 100
  init() { pthread_mutex_init(&mutex, nil) }

  func withLock(_ body: () -> Void) {
    pthread_mutex_lock(&mutex)
    body()
    pthread_mutex_unlock(&mutex)
  }

  func add(_ amount: Int) { balance += amount }
}

let bothHold = DispatchGroup()

func transfer(_ amount: Int, from source: Account, to target: Account) {
  source.withLock {
    bothHold.leave()
    bothHold.wait()
    target.withLock {
      source.add(-amount)
      target.add(amount)
    }
  }
}

let (savings, current) = (Account(), Account())
bothHold.enter()
bothHold.enter()
DispatchQueue(label: "savings").async { transfer(10, from: savings, to: current) }
DispatchQueue(label: "current").async { transfer(20, from: current, to: savings) }
usleep(500_000)
print("ready \(getpid())")
fflush(stdout)
sleep(120)
