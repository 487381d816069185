"""Records, inspects and attaches to servers and tools with threads, in a root."""

import contextlib
import dataclasses
import glob
import os
import signal
import socket
import subprocess
import time

from .platform_images import complaints_on_image
from .processes import FailedCommand, environment, kill_session, must, run

PATIENCE = 60
REQUESTS = 300
HTTP = b"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n"
# A query for the address of a.test. Over TCP, its length comes first.
DNS = b"\x00\x18" + b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00" + b"\x01a\x04test\x00\x00\x01\x00\x01"
PYTHON = """import http.server
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"x" * 1000)
    def log_message(self, *arguments):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
"""
NGINX = """daemon off; master_process off; user root; error_log stderr; pid DIR/pid; thread_pool default threads=4;
events {} http { access_log off; server { listen 127.0.0.1:PORT; location / { root DIR; aio threads; } } }
"""
APACHE = """ServerRoot DIR
ServerName localhost
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule dir_module /usr/lib/apache2/modules/mod_dir.so
Listen 127.0.0.1:PORT
PidFile DIR/pid
ErrorLog DIR/errors
DocumentRoot DIR
<Directory DIR>
  Require all granted
</Directory>
"""
HAPROXY = """global
  nbthread 4
defaults
  mode http
  timeout client 10s
  timeout connect 10s
  timeout server 10s
frontend front
  bind 127.0.0.1:PORT
  http-request return status 200 content-type text/plain string found
"""
UNBOUND = """server:
  interface: 127.0.0.1@PORT
  num-threads: 4
  username: ""
  chroot: ""
  directory: DIR
  pidfile: DIR/pid
  use-syslog: no
  local-data: "a.test. A 127.0.0.1"
"""
NAMED = """options { directory "DIR"; pid-file "DIR/pid"; listen-on port PORT { 127.0.0.1; }; listen-on-v6 { none; };
  session-keyfile "DIR/session"; managed-keys-directory "DIR"; recursion no; dnssec-validation no; };
controls { };
zone "test" { type primary; file "zone"; };
"""
ZONE = """$TTL 60
@ SOA localhost. root.localhost. 1 60 60 60 60
@ NS localhost.
a A 127.0.0.1
"""
RSYSLOG = """module(load="imtcp") input(type="imtcp" port="PORT" address="127.0.0.1")
action(type="omfile" file="DIR/messages" queue.type="LinkedList" queue.workerThreads="3")
"""


@dataclasses.dataclass(frozen=True)
class Server:
    """A server from Debian. PORT and DIR in its texts are placeholders for its port and its directory."""

    name: str
    package: str
    command: tuple
    request: bytes
    answer: bytes
    files: dict = dataclasses.field(default_factory=dict)
    prepare: tuple = ()
    statuses: tuple = (0,)  # usual statuses after SIGTERM


SERVERS = (
    Server(
        "nginx, a pool of threads",
        "nginx",
        ("nginx", "-p", "DIR", "-c", "DIR/conf"),
        HTTP,
        b"HTTP/1.1 200",
        {"conf": NGINX, "index.html": "found"},
    ),
    Server(
        "Redis, 4 threads for input and output",
        "redis-server",
        (
            "redis-server",
            "--port",
            "PORT",
            "--io-threads",
            "4",
            "--io-threads-do-reads",
            "yes",
            "--save",
            "",
            "--dir",
            "DIR",
        ),
        b"PING\r\n",
        b"+PONG",
    ),
    Server(
        "memcached, 4 threads",
        "memcached",
        ("memcached", "-u", "root", "-l", "127.0.0.1", "-p", "PORT", "-t", "4"),
        b"set a 0 0 1\r\nx\r\n",
        b"STORED",
    ),
    Server(
        "Python, a thread for each request",
        "python3",
        ("python3", "DIR/server.py"),
        HTTP,
        b"HTTP/1.0 200",
        {"server.py": PYTHON},
        statuses=(-signal.SIGTERM,),
    ),
    Server(
        "MariaDB",
        "mariadb-server",
        ("mariadbd", "--no-defaults", "--user=root", "--datadir=DIR/data", "--port=PORT", "--socket=DIR/socket"),
        b"",
        b"MariaDB",
        prepare=("mariadb-install-db", "--no-defaults", "--user=root", "--datadir=DIR/data"),
    ),
    Server(
        "Apache, the event model",
        "apache2",
        ("apache2", "-X", "-f", "DIR/conf"),
        HTTP,
        b"HTTP/1.1 200",
        {"conf": APACHE, "index.html": "found"},
    ),
    Server(
        "HAProxy, 4 threads",
        "haproxy",
        ("haproxy", "-db", "-f", "DIR/conf"),
        HTTP,
        b" 200 ",
        {"conf": HAPROXY},
        statuses=(0, 143, -signal.SIGTERM),
    ),
    Server("Unbound, 4 threads", "unbound", ("unbound", "-d", "-c", "DIR/conf"), DNS, b"a\x04test", {"conf": UNBOUND}),
    Server(
        "BIND, 4 threads",
        "bind9",
        ("named", "-f", "-n", "4", "-c", "DIR/conf"),
        DNS,
        b"a\x04test",
        {"conf": NAMED, "zone": ZONE},
    ),
    Server(
        "rsyslog",
        "rsyslog",
        ("rsyslogd", "-n", "-i", "DIR/pid", "-f", "DIR/conf"),
        b"<13>a message\n",
        b"",
        {"conf": RSYSLOG},
    ),
)
# Tools that end by themselves: name, package, and a command whose output must not change.
TOOLS = (
    ("xz, 4 threads", "xz-utils", "xz -T4 -1 -c --block-size=100KiB /usr/bin/python3* | sha256sum"),
    ("zstd, 4 threads", "zstd", "zstd -T4 -q -c /usr/bin/gdb | sha256sum"),
    ("pigz, 4 threads", "pigz", "pigz -n -p 4 -c /usr/bin/gdb | sha256sum"),
)


class RunningServer:
    """A server in the root. A `with` block starts when it answers, and kills it at the end."""

    def __init__(self, site, server, variables=None, name="plain"):
        self._site, self._server, self._variables = site, server, variables
        self._directory = os.path.join(site.directory, "servers", server.package + "-" + name)
        with socket.socket() as chosen:
            chosen.bind(("127.0.0.1", 0))
            self._port = chosen.getsockname()[1]

    def _filled(self, text):
        return text.replace("PORT", str(self._port)).replace("DIR", self._directory)

    def __enter__(self):
        os.makedirs(self._directory)
        os.chmod(self._directory, 0o777)
        for name, text in self._server.files.items():
            with open(os.path.join(self._directory, name), "w") as file:
                file.write(self._filled(text))
        if self._server.prepare:
            os.makedirs(os.path.join(self._directory, "data"))
            must(self._site.root.command([self._filled(each) for each in self._server.prepare]), limit=120)
        command = [self._filled(each) for each in self._server.command]
        self._log = open(os.path.join(self._directory, "log"), "w+b")
        self._child = subprocess.Popen(
            self._site.root.command(command, self._directory, self._variables),
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            env=environment(),
            start_new_session=True,
        )
        self.process = self._child.pid
        end = time.monotonic() + PATIENCE
        while not self._answers():
            if self._child.poll() is not None or time.monotonic() > end:
                said = self._said()
                self.__exit__()
                raise FailedCommand(f"the server did not begin: {said}")
            time.sleep(0.1)
        return self

    def _said(self):
        self._log.seek(0)
        return self._log.read().decode(errors="replace").strip()[-200:]

    def _answers(self):
        try:
            with socket.create_connection(("127.0.0.1", self._port), PATIENCE) as connection:
                connection.sendall(self._server.request)
                if not self._server.answer:
                    return True
                found = b""
                while self._server.answer not in found:
                    part = connection.recv(4096)
                    if not part:
                        return False
                    found += part
                return True
        except OSError:
            return False

    def ask(self):
        """Sends requests. Returns the number of failures."""
        return sum(not self._answers() for _ in range(REQUESTS))

    @property
    def threads(self):
        return len(os.listdir(f"/proc/{self.process}/task"))

    def end(self):
        """Ends the server with SIGTERM. Returns its status."""
        self._child.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._child.wait(PATIENCE)
        raise FailedCommand("the server did not end in time")

    def __exit__(self, *_):
        if self._child.poll() is None:
            kill_session(self._child.pid)
            self._child.wait()
        self._log.close()


def _images(site, traces):
    """Returns complaints about the last image of each trace."""
    return [text for trace in traces for text in complaints_on_image(site.analysis(trace).report)]


def _recorded(site, server, options, name):
    trace = os.path.join(site.directory, "servers", f"{server.package}-{name}.trace")
    settings = {"LD_PRELOAD": site.library, "LEAKTRACE_OUTPUT": trace, "LEAKTRACE_QUIET": "1", **options}
    with RunningServer(site, server, settings, name) as running:
        failed = running.ask()
        site.command("snapshot", str(running.process))
        failed += running.ask()
        status = running.end()
    complaints = [f"{failed} requests failed"] if failed else []
    if status not in server.statuses:
        complaints.append(f"ended with {status}")
    return complaints + _images(site, [trace])


def _looked_at(site, server):
    """Inspects a server under load, attaches, takes an image and detaches. Returns complaints, and the number of
    threads."""
    trace = os.path.join(site.directory, "servers", f"{server.package}-attached.trace")
    with RunningServer(site, server, name="plain") as running:
        failed, threads = running.ask(), running.threads
        process = str(running.process)
        inspected = run([site.leaktrace.command, "inspect", process], limit=PATIENCE)
        failed += running.ask()
        site.command("attach", process, "-o", trace)
        failed += running.ask()
        site.command("snapshot", process)
        failed += running.ask()
        site.command("detach", process)
        failed += running.ask()
        status = running.end()
    complaints = [f"{failed} requests failed"] if failed else []
    if status not in server.statuses:
        complaints.append(f"ended with {status}")
    # `inspect` needs Swift objects, which these programs lack.
    is_refused = any(text in inspected.output for text in ("no Swift object", "nor Swift objects"))
    if inspected.status not in (0, 4) and not is_refused:
        complaints.append(f"inspect ended with {inspected.status}: {inspected.output.strip()[-200:]}")
    return complaints + _images(site, [trace]), threads


def _tool(site, text):
    """Records a tool that ends by itself. Returns complaints about its output and its image."""
    pattern = os.path.join(site.directory, "servers", "tool-%n.%p.trace")
    name = text.split()[0]
    plain = must(site.root.command(["sh", "-c", text]))
    first, _, rest = text.partition(" ")
    settings = f"LD_PRELOAD={site.library} LEAKTRACE_OUTPUT={pattern} LEAKTRACE_QUIET=1"
    recorded = must(site.root.command(["sh", "-c", f"{settings} {first} {rest}"]))
    complaints = [] if plain == recorded else [f"prints {recorded.strip()[:100]}, not {plain.strip()[:100]}"]
    traces = glob.glob(os.path.join(site.directory, "servers", f"tool-{name}.*.trace"))
    return complaints + (_images(site, traces) if traces else ["no trace"])


def servers(site):
    """Checks all servers and tools, and adds a table to the site. Returns complaints."""
    os.makedirs(os.path.join(site.directory, "servers"), exist_ok=True)
    rows = [["program", "version", "threads", "recorded", "light", "inspected, attached"]]
    complaints: list[str] = []

    def cell(name, part, check):
        try:
            found = check()
        except FailedCommand as failure:
            found = [str(failure)]
        complaints.extend(f"{name}, {part}: {text}" for text in found)
        return "no" if found else "yes"

    for server in SERVERS:
        version = _version(site, server.package)
        if not version:
            rows.append([server.name, "not installed", *["not run"] * 4])
            continue
        seen: list[int] = []

        def look(server=server, seen=seen):
            found, threads = _looked_at(site, server)
            seen.append(threads)
            return found

        cells = [
            cell(server.name, "recorded", lambda server=server: _recorded(site, server, {}, "recorded")),
            cell(
                server.name,
                "light",
                lambda server=server: _recorded(site, server, {"LEAKTRACE_MODE": "light"}, "light"),
            ),
            cell(server.name, "attached", look),
        ]
        rows.append([server.name, version, str(seen[0]) if seen else "?", *cells])
    for name, package, text in TOOLS:
        version = _version(site, package)
        if version:
            rows.append([name, version, "4", cell(name, "recorded", lambda text=text: _tool(site, text)), "", ""])
    site.tables["Servers and tools with threads"] = rows
    return complaints


def _version(site, package):
    outcome = run(site.root.command(["dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", package]))
    state, _, version = outcome.output.partition(" ")
    return version if state == "installed" else ""
