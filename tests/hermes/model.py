"""A scripted model on 127.0.0.1: answers each request of Hermes with the next step of a script.

A step is `{"text": …}` or `{"tool_calls": [{"name", "arguments"}, …]}`. The background review has a queue of its own.
Requests without tools (titles and the like) get a fixed answer and use no step.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Step = dict[str, Any]
Steps = Step | Callable[[dict[str, Any]], Step]
"""A step, or what makes one of the request."""
REVIEW = "Review the conversation above"


class Model:
    """The script, where it stands, and every request that came in."""

    def __init__(self) -> None:
        self.steps: dict[str, list[Steps]] = {"main": [], "review": []}
        self.requests: list[dict[str, Any]] = []
        self.port = 0
        self._lock = threading.Lock()

    def says(self, *steps: Steps) -> None:
        """Sets what the model answers from now on; afterwards it says "done"."""
        self.steps["main"] = list(steps)

    def reviews(self, *steps: Step) -> None:
        """Sets what the model answers to the background review."""
        self.steps["review"] = list(steps)

    def results(self) -> list[str]:
        """What tools answered, as the model saw it: the last of each request."""
        return [
            str(one["messages"][-1].get("content"))
            for one in self.requests
            if one["messages"] and one["messages"][-1]["role"] == "tool"
        ]

    def answer(self, request: dict[str, Any]) -> tuple[int, Step]:
        with self._lock:
            self.requests.append(request)
            if not request.get("tools"):
                return len(self.requests), {"text": "A title"}
            users = [message for message in request["messages"] if message["role"] == "user"]
            said = json.dumps(users[-1]["content"]) if users else ""
            queue = self.steps["review" if REVIEW in said else "main"]
            step = queue.pop(0) if queue else {"text": "done"}
            return len(self.requests), step(request) if callable(step) else step


def call(name: str, **arguments: Any) -> Step:
    """A step that calls one tool."""
    return {"tool_calls": [{"name": name, "arguments": arguments}]}


def text(words: str) -> Step:
    """A step that ends the turn with these words."""
    return {"text": words}


@contextmanager
def serving() -> Iterator[Model]:
    """Runs a model on a free port for as long as the block lasts."""
    model = Model()

    class Handler(_Handler):
        script = model

    server = _Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A Hermes that ends drops its connections; everything else is a bug in here."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    script: Model
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        return

    def do_GET(self) -> None:
        if self.path.rstrip("/").endswith("/models"):
            known = {"id": "scripted-1", "object": "model", "context_length": 131072}
            return self._json(200, {"object": "list", "data": [known]})
        return self._json(404, {"error": {"message": "no route"}})

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        if not self.path.endswith("/chat/completions"):
            return self._json(404, {"error": {"message": "no route"}})
        number, step = self.script.answer(request)
        calls = [
            {
                "id": f"call_{number}_{index}",
                "type": "function",
                "function": {"name": one["name"], "arguments": json.dumps(one["arguments"])},
            }
            for index, one in enumerate(step.get("tool_calls", []))
        ]
        finish = "tool_calls" if calls else "stop"
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        base = {"id": f"c{number}", "created": 0, "model": request.get("model")}
        if not request.get("stream"):
            message: dict[str, Any] = {"role": "assistant", "content": step.get("text")}
            if calls:
                message["tool_calls"] = calls
            choice = {"index": 0, "message": message, "finish_reason": finish}
            return self._json(200, {**base, "object": "chat.completion", "choices": [choice], "usage": usage})
        return self._stream(base, step.get("text") or "", calls, finish, usage)

    def _json(self, code: int, document: dict[str, Any]) -> None:
        body = json.dumps(document).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, base: dict[str, Any], said: str, calls: list[Step], finish: str, usage: dict[str, int]) -> None:
        deltas: list[tuple[dict[str, Any], str | None]] = [({"role": "assistant"}, None)]
        if said:
            deltas.append(({"content": said}, None))
        deltas += [({"tool_calls": [{"index": index, **one}]}, None) for index, one in enumerate(calls)]
        deltas.append(({}, finish))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        chunks = [[{"index": 0, "delta": delta, "finish_reason": reason}] for delta, reason in deltas]
        try:
            for choices in [*chunks, []]:
                chunk = {**base, "object": "chat.completion.chunk", "choices": choices}
                if not choices:
                    chunk["usage"] = usage
                self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
            self.wfile.write(b"data: [DONE]\n\n")
        except (BrokenPipeError, ConnectionResetError):
            return
