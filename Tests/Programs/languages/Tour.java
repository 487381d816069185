// Works with threads, a child and a file, for SITUATION_SECONDS and once at least.

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.concurrent.atomic.AtomicLong;

public class Tour {
  public static void main(String[] arguments) throws Exception {
    String text = System.getenv("SITUATION_SECONDS");
    long begin = System.nanoTime(), nanoseconds = text == null ? 0 : (long) (Double.parseDouble(text) * 1e9);
    AtomicLong size = new AtomicLong();
    String said;
    do {
      size.set(0);
      Thread[] threads = new Thread[4];
      for (int i = 0; i < threads.length; i++) {
        threads[i] = new Thread(() -> {
          HashMap<Integer, String> words = new HashMap<>();
          for (int j = 0; j < 2000; j++) words.put(j, "word ".repeat(10) + j);
          for (String word : words.values()) size.addAndGet(word.length());
        });
        threads[i].start();
      }
      for (Thread thread : threads) thread.join();
      Process child = new ProcessBuilder("sh", "-c", "echo from a child").start();
      said = new String(child.getInputStream().readAllBytes()).trim();
      child.waitFor();
    } while (System.nanoTime() - begin < nanoseconds);
    Files.writeString(Path.of("written"), "written\n");
    System.out.println(size + " " + said);
    System.exit(7);
  }
}
