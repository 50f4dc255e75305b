"""The scripted model itself: it must play its script in every dialect, or the tests of agents prove nothing."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from tests.agents.dialects import Shell, Write
from tests.agents.scripted_model import ScriptedModel, Turn

SCHEMA = {"type": "object", "properties": {"path": {}, "content": {}}}
TOOLS: dict[str, list[dict[str, Any]]] = {
    "/v1/chat/completions": [{"type": "function", "function": {"name": "write", "parameters": SCHEMA}}],
    "/v1/responses": [{"type": "function", "name": "write", "parameters": SCHEMA}],
    "/v1/messages": [{"name": "write", "input_schema": SCHEMA}],
}
HISTORY_KEY = {"/v1/chat/completions": "messages", "/v1/responses": "input", "/v1/messages": "messages"}


def ask(model: ScriptedModel, path: str, answered: int, *, stream: bool = True, tools: bool = True) -> str:
    history = [{"role": "user", "content": "go"}]
    for number in range(answered):
        history += [{"role": "assistant", "content": str(number)}, {"role": "user", "content": "on"}]
    body = {"model": "m", "stream": stream, HISTORY_KEY[path]: history, "tools": TOOLS[path] if tools else []}
    request = urllib.request.Request(model.url + path, json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        text: str = answer.read().decode()
    return text


@pytest.mark.parametrize("path", TOOLS)
@pytest.mark.parametrize("stream", [True, False])
def test_the_history_chooses_the_turn(path: str, *, stream: bool) -> None:
    with ScriptedModel([Turn("one", (Write("a.txt", "b"),)), Turn("two")]) as model:
        first = ask(model, path, 0, stream=stream)
        assert "one" in first
        assert "a.txt" in first
        assert "two" in ask(model, path, 1, stream=stream)
        assert "Done." in ask(model, path, 2, stream=stream)
        assert "one" in ask(model, path, 0, stream=stream)
        assert [seen.turn for seen in model.seen] == [0, 1, 2, 0]


@pytest.mark.parametrize("path", TOOLS)
def test_a_request_without_tools_plays_no_turn(path: str) -> None:
    with ScriptedModel([Turn("one")]) as model:
        assert "A title" in ask(model, path, 0, tools=False)
        assert [seen.turn for seen in model.seen] == [-1]


def test_tool_that_was_not_offered_has_its_usual_name() -> None:
    with ScriptedModel([Turn("", (Shell("true"),))]) as model:
        assert '"bash"' in ask(model, "/v1/messages", 0)


@pytest.mark.parametrize("status", [401, 429, 500])
def test_errors_are_played_too(status: int) -> None:
    with ScriptedModel([Turn(status=status, message="no", retry_after_s=7)]) as model:
        with pytest.raises(urllib.error.HTTPError) as refused:
            ask(model, "/v1/responses", 0)
        with refused.value as error:
            assert (error.code, error.headers["retry-after"]) == (status, "7")
            assert json.loads(error.read())["error"]["message"] == "no"
