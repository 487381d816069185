// A URL session holds its delegate until it is invalidated; here the delegate also holds the session.
// Not in the variants with STATIC_STDLIB: the static libFoundationNetworking wants a libcurl to link with.
#if !STATIC_STDLIB
import Foundation
import FoundationNetworking

final class ArchiveDownloader: NSObject, URLSessionDataDelegate, @unchecked Sendable {
  private var session: URLSession?

  func prepare() {
    session = URLSession(configuration: .ephemeral, delegate: self, delegateQueue: nil)
    note(session == nil ? 0 : 1)
  }

  func finish() { session?.invalidateAndCancel() }
}

enum ArchiveDownload: FaultyProgram {
  static func faulty() { for _ in 0..<2 { download() } }

  static func correct() {
    for _ in 0..<2 { downloadAndFinish() }
    settle()
  }

  @inline(never) private static func download() { ArchiveDownloader().prepare() }

  @inline(never) private static func downloadAndFinish() {
    let downloader = ArchiveDownloader()
    downloader.prepare()
    downloader.finish()
  }
}
#endif
