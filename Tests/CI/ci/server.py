"""A server on loopback that stands for GitHub: comments of a pull request, and the files of a release."""

import json
import re
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "token-that-no-log-may-show"
REPOSITORY = "shop/shop"
PULL_REQUEST = 17


@dataclass
class Request:
    """A request for the API."""

    method: str
    path: str


class GitHubServer:
    """The comments of one pull request. The token belongs to a bot unless `login` names a person."""

    def __init__(self, releases: Path) -> None:
        self.releases = releases
        self.comments: list[dict[str, Any]] = []
        self.requests: list[Request] = []
        # Whether the token may only read, as in a pull request from a fork.
        self.is_read_only = False
        # Requests with these methods get status 500.
        self.broken: set[str] = set()
        self.login: str | None = None
        server = self

        class Handler(_Handler):
            owner = server

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()

    def add(self, body: str, login: str, kind: str = "User") -> dict[str, Any]:
        number = 1000 + len(self.comments)
        comment = {
            "id": number,
            "body": body,
            "user": {"login": login, "type": kind},
            "html_url": f"{self.url}/{REPOSITORY}/pull/{PULL_REQUEST}#issuecomment-{number}",
        }
        self.comments.append(comment)
        return comment

    def methods(self) -> list[str]:
        """The methods of the requests since the last call."""
        methods = [request.method for request in self.requests]
        self.requests.clear()
        return methods


class _Handler(BaseHTTPRequestHandler):
    owner: GitHubServer

    def do_GET(self) -> None:  # noqa: N802
        url = urlsplit(self.path)
        if "/releases/" in url.path:
            self.send_release(url.path)
        elif self.may("GET"):
            query = parse_qs(url.query)
            if url.path == "/user":
                self.send_user()
            elif url.path == f"/repos/{REPOSITORY}/issues/{PULL_REQUEST}/comments":
                size, page = int(query["per_page"][0]), int(query["page"][0])
                assert size <= 100, "GitHub gives no more"
                self.answer(200, self.owner.comments[(page - 1) * size : page * size])
            else:
                self.answer(404, {"message": "Not Found"})

    def do_POST(self) -> None:  # noqa: N802
        if not self.may("POST"):
            return
        assert self.path == f"/repos/{REPOSITORY}/issues/{PULL_REQUEST}/comments", self.path
        kind = "User" if self.owner.login else "Bot"
        self.answer(201, self.owner.add(self.body(), self.owner.login or "github-actions[bot]", kind))

    def do_PATCH(self) -> None:  # noqa: N802
        if not self.may("PATCH"):
            return
        match = re.fullmatch(rf"/repos/{REPOSITORY}/issues/comments/(\d+)", self.path)
        assert match, self.path
        for comment in self.owner.comments:
            if comment["id"] == int(match[1]):
                comment["body"] = self.body()
                self.answer(200, comment)
                return
        self.answer(404, {"message": "Not Found"})

    def may(self, method: str) -> bool:
        """Notes the request, and answers it if it is not allowed."""
        self.owner.requests.append(Request(method, self.path))
        if method in self.owner.broken:
            self.answer(500, {"message": "Server Error"})
        elif self.headers["Authorization"] != f"Bearer {TOKEN}":
            self.answer(401, {"message": "Bad credentials"})
        elif self.owner.is_read_only and method != "GET":
            self.answer(403, {"message": "Resource not accessible by integration"})
        else:
            return True
        return False

    def body(self) -> str:
        document = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert set(document) == {"body"}, document
        assert len(document["body"]) < 65536, "GitHub refuses longer comments"
        return str(document["body"])

    def send_user(self) -> None:
        # The token of a job belongs to an integration, which is no user.
        if self.owner.login:
            self.answer(200, {"login": self.owner.login})
        else:
            self.answer(403, {"message": "Resource not accessible by integration"})

    def send_release(self, name: str) -> None:
        path = self.owner.releases / name.removeprefix("/releases/")
        if not path.is_file():
            self.answer(404, {"message": "Not Found"})
            return
        content = path.read_bytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def answer(self, status: int, document: Any) -> None:
        content = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: Any) -> None:
        pass
