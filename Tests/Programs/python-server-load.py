"""Sends a server on this machine so many requests over each of four connections, once it answers.

Usage: python-server-load.py PORT REQUESTS
"""

import http.client
import sys
import threading
import time

port, requests = int(sys.argv[1]), int(sys.argv[2])


def connect():
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    for _ in range(6000):
        try:
            connection.connect()
            return connection
        except ConnectionRefusedError:
            time.sleep(0.05)
    raise SystemExit("the server did not begin")


answered = []


def work(worker):
    connection = connect()
    for number in range(requests):
        body = b"x" * number if number % 2 else None
        connection.request("POST" if body else "GET", f"/{worker}/{number}", body=body)
        response = connection.getresponse()
        assert response.status == 200
        assert response.read() == f"/{worker}/{number} ".encode() + (body or b"")
        answered.append(number)
    connection.close()


threads = [threading.Thread(target=work, args=(worker,)) for worker in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
sys.exit(0 if len(answered) == 4 * requests else 1)
