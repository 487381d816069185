"""Clients of the servers that `trials.servers` attaches to. They send requests and check every answer."""

import contextlib
import queue
import socket
import struct
import sys
import time

PAUSE_SECONDS = 0.002  # between two requests, so that a client uses little of a processor
ANSWER_SECONDS = 20
BODY = b"a body of an answer, " * 40


class Connection:
    """A connection for requests with one answer each. `ask` raises OSError if an answer is wrong or late."""

    requests_each = 500

    def __init__(self, port, number):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=ANSWER_SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.number, self.left, self.turn = number, b"", 0

    def close(self):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def take(self, size):
        while len(self.left) < size:
            piece = self.socket.recv(1 << 16)
            if not piece:
                raise OSError("the server closed the connection")
            self.left += piece
        data, self.left = self.left[:size], self.left[size:]
        return data

    def take_through(self, end):
        while end not in self.left:
            piece = self.socket.recv(1 << 16)
            if not piece:
                raise OSError("the server closed the connection")
            self.left += piece
        return self.take(self.left.index(end) + len(end))

    def expect(self, data):
        found = self.take(len(data))
        if found != data:
            raise OSError(f"another answer: {found[:60]!r}")

    def ask(self):
        raise NotImplementedError


class Http(Connection):
    def ask(self):
        self.send(b"GET /answer HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        head = self.take_through(b"\r\n\r\n").lower()
        if not head.startswith(b"http/1.1 200") or b"content-length: %d\r\n" % len(BODY) not in head:
            raise OSError(f"another answer: {head[:60]!r}")
        self.expect(BODY)


class Redis(Connection):
    def ask(self):
        self.turn += 1
        key = b"key:%d:%d" % (self.number, self.turn % 100)
        value = b"%d" % self.turn * 50
        self.send(b"*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n" % (len(key), key, len(value), value))
        self.expect(b"+OK\r\n")
        self.send(b"*2\r\n$3\r\nGET\r\n$%d\r\n%s\r\n" % (len(key), key))
        self.expect(b"$%d\r\n%s\r\n" % (len(value), value))


class Memcached(Connection):
    def ask(self):
        self.turn += 1
        key = b"key:%d:%d" % (self.number, self.turn % 100)
        value = b"%d" % self.turn * 50
        self.send(b"set %s 0 0 %d\r\n%s\r\nget %s\r\n" % (key, len(value), value, key))
        self.expect(b"STORED\r\nVALUE %s 0 %d\r\n%s\r\nEND\r\n" % (key, len(value), value))


class Postgres(Connection):
    """Version 3 of the protocol, with one query per request. Client 0 makes a new connection for each request."""

    def __init__(self, port, number):
        super().__init__(port, number)
        self.requests_each = 1 if number == 0 else sys.maxsize
        text = b"user\0postgres\0database\0postgres\0\0"
        self.send(struct.pack("!II", len(text) + 8, 3 << 16) + text)
        self._read_until_ready()

    def _read_until_ready(self):
        rows = []
        while True:
            kind, size = struct.unpack("!cI", self.take(5))
            data = self.take(size - 4)
            if kind == b"E":
                raise OSError(f"an error: {data[:100]!r}")
            if kind == b"D":
                rows.append(data)
            if kind == b"Z":
                return rows

    def ask(self):
        query = b"select sum(x), repeat('a', 100) from generate_series(1, 100) x\0"
        self.send(b"Q" + struct.pack("!I", len(query) + 4) + query)
        if self._read_until_ready() != [b"\0\2\0\0\0\x045050\0\0\0\x64" + b"a" * 100]:
            raise OSError("another answer")


CLIENTS = {
    "nginx": Http,
    "redis": Redis,
    "memcached": Memcached,
    "postgres": Postgres,
    "python": Http,
    "node": Http,
}


def client(kind, port, number, phase, results):
    """Sends requests until the phase is 2. Then puts the seconds of each request in phases 0 and 1, and the failures,
    into the queue `results`."""
    seconds: list[list[float]] = [[], [], []]
    failures: list[str] = []
    connection, asked = None, 0
    while phase.value < 2 and len(failures) < 10:
        at, begin = phase.value, time.monotonic()
        try:
            if connection is None:
                connection, asked = CLIENTS[kind](port, number), 0
            connection.ask()
            seconds[at].append(time.monotonic() - begin)
            asked += 1
        except OSError as error:
            failures.append(f"{error} after {time.monotonic() - begin:.2f} s")
            asked = 1 << 30
        if connection is not None and asked >= connection.requests_each:
            connection.close()
            connection = None
        time.sleep(PAUSE_SECONDS)
    with contextlib.suppress(queue.Full):
        results.put((seconds[0], seconds[1], failures))
