"""Starts servers on loopback, each in its own directory, and checks how they end."""

import contextlib
import grp
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time
from typing import Any

from . import clients
from .clients import BODY
from .processes import environment

START_SECONDS = 30
END_SECONDS = 30
# Messages of servers about a crash.
CRASHES = ("exited on signal", "terminated by signal", "crashed by signal", "PANIC", "BUG REPORT", "core dumped")

PYTHON = f"""
import http.server, socketserver, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    def do_GET(self):
        body = {BODY!r}
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *arguments):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
NODE = f"""
const body = {BODY.decode()!r};
require('http').createServer((request, response) => {{
  response.writeHead(200, {{'Content-Length': body.length}});
  response.end(body);
}}).listen(Number(process.argv[1]), '127.0.0.1');
"""


class NotInstalled(Exception):
    """The text names the missing server."""


def path_of(program):
    path = shutil.which(program) or shutil.which(program, path="/usr/sbin:/usr/local/sbin:/sbin")
    if path is None:
        raise NotInstalled(f"{program} is not installed")
    return path


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def children(process):
    try:
        with open(f"/proc/{process}/task/{process}/children", encoding="utf-8") as file:
            return [int(each) for each in file.read().split()]
    except FileNotFoundError:
        return []


class Server:
    title = ""
    ends_by = signal.SIGTERM
    end_statuses: tuple[int, ...] = (0,)

    def __init__(self, directory):
        self.directory, self.port = directory, free_port()
        self._log = os.path.join(directory, "log")
        command, options = self.command()
        with open(self._log, "wb") as log:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=directory,
                env=environment(),
                start_new_session=True,
                **options,
            )
        self._await()

    def command(self):
        raise NotImplementedError

    def try_connection(self):
        """Raises OSError until the server answers."""
        socket.create_connection(("127.0.0.1", self.port), timeout=1).close()

    def targets(self):
        """Returns the processes to attach to, in turn."""
        return [self.process.pid]

    def lasting(self):
        """Returns the processes that must not end."""
        return [self.process.pid]

    def end(self):
        """Ends the server by its usual signal. Returns complaints about its status and its messages."""
        self.process.send_signal(self.ends_by)
        problems = []
        try:
            status = self.process.wait(END_SECONDS)
            if status not in self.end_statuses:
                problems.append(f"it ended with {status}")
        except subprocess.TimeoutExpired:
            problems.append("it does not end")
        with open(self._log, encoding="utf-8", errors="replace") as file:
            text = file.read()
        return problems + [f"it says: {each}" for each in CRASHES if each in text]

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()

    def _await(self):
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                self.try_connection()
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    with open(self._log, encoding="utf-8", errors="replace") as file:
                        sys.exit(f"survival: {self.title} does not start: {file.read()[-1000:]}")
                time.sleep(0.05)


class Nginx(Server):
    title = "nginx with two workers"
    ends_by = signal.SIGQUIT

    def command(self):
        program = path_of("nginx")
        with open(os.path.join(self.directory, "answer"), "wb") as file:
            file.write(BODY)
        nobody = pwd.getpwnam("nobody")
        user = f"user nobody {grp.getgrgid(nobody.pw_gid).gr_name};" if os.geteuid() == 0 else ""
        settings = f"""daemon off; worker_processes 2; {user} pid {self.directory}/pid; error_log stderr;
events {{ worker_connections 256; }}
http {{ access_log off; keepalive_requests 1000; client_body_temp_path temporary; proxy_temp_path temporary;
  fastcgi_temp_path temporary; uwsgi_temp_path temporary; scgi_temp_path temporary;
  server {{ listen 127.0.0.1:{self.port} reuseport; root {self.directory}; }} }}"""
        path = os.path.join(self.directory, "settings")
        with open(path, "w", encoding="utf-8") as file:
            file.write(settings)
        return [program, "-p", self.directory, "-c", path], {}

    def targets(self):
        return children(self.process.pid)

    def lasting(self):
        return [self.process.pid, *children(self.process.pid)]


class Redis(Server):
    title = "redis with two threads for input, which saves each second"

    def command(self):
        words = f"--port {self.port} --bind 127.0.0.1 --io-threads 2 --io-threads-do-reads yes --appendonly no"
        # After a change, a child saves the data once per second.
        return [path_of("redis-server"), *words.split(), "--save", "1", "1"], {}


class Memcached(Server):
    title = "memcached with four threads"

    def command(self):
        user = ["-u", "root"] if os.geteuid() == 0 else []
        return [path_of("memcached"), *user, "-t", "4", "-l", "127.0.0.1", "-p", str(self.port)], {}


class Postgres(Server):
    title = "postgres under another user: backends, and the process that forks them"
    ends_by = signal.SIGINT

    def command(self):
        programs = os.path.dirname(os.path.realpath(path_of("postgres")))
        options: dict[str, Any] = {}
        if os.geteuid() == 0:
            try:
                options = {"user": pwd.getpwnam("postgres").pw_uid, "group": pwd.getpwnam("postgres").pw_gid}
            except KeyError:
                raise NotInstalled("there is no user postgres") from None
        data = os.path.join(self.directory, "data")
        os.mkdir(data, 0o700)
        if options:
            os.chown(data, options["user"], options["group"])
        subprocess.run(
            [os.path.join(programs, "initdb"), "--auth", "trust", "--username", "postgres", "--no-sync", data],
            cwd=data,
            stdout=subprocess.DEVNULL,
            check=True,
            **options,
        )
        words = f"-D {data} -p {self.port} -k {data} -h 127.0.0.1 -F -c restart_after_crash=off"
        return [os.path.join(programs, "postgres"), *words.split()], options

    def try_connection(self):
        # The server opens its port before it answers queries.
        connection = clients.Postgres(self.port, 0)
        connection.ask()
        connection.close()

    def targets(self):
        """Returns the backends of long connections, then the process that forks them."""
        found = []
        for child in children(self.process.pid):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                with open(f"/proc/{child}/cmdline", "rb") as file:
                    name = file.read()
                with open(f"/proc/{child}/stat", encoding="utf-8") as file:
                    begin = int(file.read().rpartition(")")[2].split()[19])
                if b"127.0.0.1(" in name:
                    found.append((begin, child))
        return [*(child for _, child in sorted(found)[:3]), self.process.pid]


class Python(Server):
    title = "a Python server with a thread for each connection"
    end_statuses = (-signal.SIGTERM,)

    def command(self):
        return [os.path.realpath(sys.executable), "-c", PYTHON, str(self.port)], {}


class Node(Server):
    title = "a Node.js server"
    end_statuses = (-signal.SIGTERM,)

    def command(self):
        return [path_of("node"), "-e", NODE, str(self.port)], {}


SERVERS = {
    "nginx": Nginx,
    "redis": Redis,
    "memcached": Memcached,
    "postgres": Postgres,
    "python": Python,
    "node": Node,
}
