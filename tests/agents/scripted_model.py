"""A model that plays a script: OpenAI Chat, OpenAI Responses and Anthropic Messages, on loopback only.

Which turn is played follows from the request alone: it is the number of assistant turns in the history, so a repeated
request gets the same answer and a resumed session goes on counting. After the last turn the model says "Done.". A
request that offers no tools (a title, a summary) gets a plain text and plays no turn. With several scripts, the first
one whose words stand in the history is played.
"""

from __future__ import annotations

import gzip
import json
import socket
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tests.agents.dialects import DIALECTS, INPUT_TOKENS, Dialect, Event, Json, Shell, Write, call_for

LARGEST_REQUEST_BYTES = 16_000_000
MOST_REQUESTS = 200  # an agent that asks more often is looping
LONGEST_HANG_S = 120.0
SOCKET_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer: text and tool calls, or an HTTP error, or silence until the model is closed."""

    text: str = ""
    calls: tuple[Shell | Write, ...] = ()
    status: int = 200
    message: str = "scripted failure"
    retry_after_s: int | None = None
    hangs: bool = False


@dataclass(frozen=True, slots=True)
class Seen:
    """One request: where it went, its tools, the turn it got (-1: none was played), and its history as JSON."""

    path: str
    tools: frozenset[str]
    turn: int
    last: str  # the end of the history
    history: str


Script = Sequence[Turn] | Mapping[str, Sequence[Turn]]


class ScriptedModel:
    """The server; use it as a context manager. `listener` is a listening loopback socket, from anywhere."""

    def __init__(self, script: Script, listener: socket.socket | None = None) -> None:
        self.scripts = script if isinstance(script, Mapping) else {"": script}
        self.seen: list[Seen] = []
        self.closing = threading.Event()
        self.is_hanging = threading.Event()
        self._lock = threading.Lock()
        self._server = _Server(self, listener)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def turn(self, number: int, history: str) -> Turn | None:
        """What is played as the answer with this number, if there is anything."""
        script = next((turns for words, turns in self.scripts.items() if words in history), ())
        return script[number] if 0 <= number < len(script) else None

    def note(self, seen: Seen) -> bool:
        """Remember a request; false when there were too many."""
        with self._lock:
            self.seen.append(seen)
            return len(self.seen) <= MOST_REQUESTS


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # an agent that was killed may have left a connection open

    def __init__(self, model: ScriptedModel, listener: socket.socket | None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler, bind_and_activate=listener is None)
        if listener is not None:
            self.socket.close()
            self.socket = listener
            self.server_address = listener.getsockname()
        assert self.server_address[0] == "127.0.0.1"
        self.model = model

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news; the test looks at what the agent did."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = SOCKET_TIMEOUT_S
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        """Say nothing: the output belongs to the tests."""

    def do_HEAD(self) -> None:
        self._send(200, {})

    def do_GET(self) -> None:
        known = self.path.split("?")[0].endswith("/models")
        self._send(200 if known else 404, {"object": "list", "data": [{"id": "scripted", "object": "model"}]})

    def do_POST(self) -> None:
        path = self.path.split("?")[0]
        request = json.loads(self._body() or b"{}")
        if path.endswith("/count_tokens"):
            self._send(200, {"input_tokens": INPUT_TOKENS})
            return
        dialect = next((dialect for end, dialect in DIALECTS.items() if path.endswith(end)), None)
        if dialect is None:
            self._send(404, _error("no such interface"))
            return
        tools = dialect.tools(request)
        number = dialect.turns(request) if tools else -1
        said = dialect.history(request)
        seen = Seen(path, frozenset(tools), number, json.dumps(said[-1:]), json.dumps(said))
        if not self.server.model.note(seen):
            self._send(400, _error("too many requests of one test"))
            return
        turn = self.server.model.turn(number, seen.history) or Turn("Done." if tools else "A title")
        self._play(dialect, request, tools, turn)

    def _play(self, dialect: Dialect, request: Json, tools: Mapping[str, Json], turn: Turn) -> None:
        if turn.hangs:
            self.server.model.is_hanging.set()
            self.server.model.closing.wait(LONGEST_HANG_S)
            self.close_connection = True
            return
        if turn.status != 200:
            headers = {} if turn.retry_after_s is None else {"retry-after": str(turn.retry_after_s)}
            self._send(turn.status, _error(turn.message), headers)
            return
        # Agents merge answers that carry the same name, so every answer and every call has one of its own.
        identity = uuid.uuid4().hex
        calls = [call_for(action, tools, f"{identity}_{index}") for index, action in enumerate(turn.calls)]
        answer = dialect.answer(identity, request, turn.text, calls)
        if request.get("stream"):
            self._stream(dialect.events(answer))
        else:
            self._send(200, answer)

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            data = b"".join(self._chunks())
        else:
            size = int(self.headers.get("content-length") or 0)
            data = self.rfile.read(min(size, LARGEST_REQUEST_BYTES))
        return gzip.decompress(data) if self.headers.get("content-encoding", "").lower() == "gzip" else data

    def _chunks(self) -> Iterator[bytes]:
        left = LARGEST_REQUEST_BYTES
        while (size := int(self.rfile.readline(20).strip() or b"0", 16)) and size <= left:
            yield self.rfile.read(size)
            self.rfile.readline(20)
            left -= size

    def _send(self, status: int, content: Json, headers: Mapping[str, str] | None = None) -> None:
        data = json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _stream(self, events: Iterator[Event]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for name, content in events:
            text = content if isinstance(content, str) else json.dumps(content)
            self.wfile.write((f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode())
            self.wfile.flush()
        self.close_connection = True


def _error(message: str) -> Json:
    return {"type": "error", "error": {"type": "api_error", "code": "scripted", "message": message}}
