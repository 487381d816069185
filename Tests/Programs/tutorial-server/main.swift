// The server's load: clients log in, say hello, and leave. It needs no network. Usage: server [CLIENTS]

import Foundation

/// The resident memory of this process, in MiB.
func residentMemory() -> Int {
  let pages = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")[1]
  return (Int(pages ?? "") ?? 0) / 256
}

let chat = Server()
let clients = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1]) ?? 0 : 4000
/// The number of clients that are logged in at a time.
let online = 50

for client in 1...clients + online {
  if client <= clients { chat.logIn(client) }
  chat.receive("hello", from: client - online / 2)
  let leaving = client - online
  if leaving.isMultiple(of: 4) {
    chat.connectionLost(leaving)
  } else {
    chat.logOut(leaving)
  }
  if client.isMultiple(of: 1000) { print("\(client) clients, \(residentMemory()) MiB") }
  usleep(250)
}
