import Glibc

@main enum App {
  static func main() {
    var thread = pthread_t()
    pthread_create(&thread, nil, { _ in send(25); return nil }, nil)
    pthread_join(thread, nil)
  }
}
