# Works with threads, a child and a file, for SITUATION_SECONDS and once at least.
import json
import os
import subprocess
import sys
import threading
import time

begin, seconds = time.monotonic(), float(os.environ.get("SITUATION_SECONDS", "0"))


def work(results):
    words = {str(number): [number] * 10 for number in range(2000)}
    results.append(len(json.dumps(words)))


while True:
    results: list[int] = []
    threads = [threading.Thread(target=work, args=(results,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    said = subprocess.run(["sh", "-c", "echo from a child"], capture_output=True, text=True, check=True).stdout
    if time.monotonic() - begin >= seconds:
        break
with open("written", "w", encoding="utf-8") as file:
    file.write("written\n")
print(results, said.strip())
sys.exit(7)
