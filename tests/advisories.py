"""Advisories on loopback: answers about vulnerable packages, in the form of OSV and of a registry of npm."""

from __future__ import annotations

import gzip
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def advisory(name: str, **more: Any) -> dict[str, Any]:
    """One answer about a package that is vulnerable, in the form of OSV."""
    fixed = {"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "2.0"}]}
    affected = [{"package": {"name": name, "ecosystem": "PyPI"}, "ranges": [fixed]}]
    return {"vulns": [{"id": "PYSEC-2024-1", "aliases": ["CVE-2024-1"], "affected": affected, **more}]}


class Advisories:
    """A server that answers as told; everything it does not know is not vulnerable."""

    def __init__(self) -> None:
        self.answers: dict[str, dict[str, Any]] = {}
        self.looked_up: list[str] = []
        self.status, self.raw = 200, None
        self.hangs, self.let_go = False, threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1/query"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    raw: bytes | None

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        ours = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                query = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                name = query["package"]["name"]
                ours.looked_up.append(f"{name}=={query['version']}")
                if ours.hangs:
                    ours.let_go.wait()
                    return
                body = json.dumps(ours.answers.get(name, {})).encode() if ours.raw is None else ours.raw
                self.send_response(ours.status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Print nothing: the log is not read."""

        return Handler

    def close(self) -> None:
        self.let_go.set()
        self.server.shutdown()
        self.server.server_close()


class NpmRegistry:
    """A registry that answers the bulk query of `npm audit`, and nothing else; `answers` by the name of a package."""

    BULK = "/-/npm/v1/security/advisories/bulk"

    def __init__(self) -> None:
        self.answers: dict[str, list[dict[str, Any]]] = {}
        self.looked_up: dict[str, list[str]] = {}
        self.status = 200
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        ours = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers["Content-Length"]))
                packed = self.headers.get("Content-Encoding") == "gzip"
                is_bulk = self.path == ours.BULK and ours.status == 200
                if is_bulk:
                    ours.looked_up |= json.loads(gzip.decompress(data) if packed else data)
                body = json.dumps(
                    {name: flaws for name, flaws in ours.answers.items() if name in ours.looked_up}
                ).encode()
                self.send_response(200 if is_bulk else max(ours.status, 404))
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Print nothing: the log is not read."""

        return Handler

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
