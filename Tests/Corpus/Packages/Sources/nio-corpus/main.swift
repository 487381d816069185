// Runs one program of the part of the corpus that needs packages, as `corpus` does with the others.
import Glibc
import NIOCore
import NIOEmbedded

let programs: [String: any FaultyProgram.Type] = [
  "nio-stored-context": StoredContext.self,
  "nio-pending-promise": PendingPromise.self,
  "nio-unfinished-channel": UnfinishedChannel.self,
  "channel-reader": ChannelReader.self,
]

let arguments = CommandLine.arguments
switch (arguments.count == 3 ? programs[arguments[1]] : nil, arguments.last) {
case (.some(let program), "leak"): program.faulty()
case (.some(let program), "clean"): program.correct()
default:
  fputs("usage: nio-corpus NAME leak|clean\n", stderr)
  for name in programs.keys.sorted() { fputs("  \(name)\n", stderr) }
  exit(64)
}
