"""How three model interfaces write down tools, a history and an answer: the scripted model's languages."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

INPUT_TOKENS, OUTPUT_TOKENS = 100, 20  # of every answer

Json = dict[str, Any]
Event = tuple[str, Json | str]


@dataclass(frozen=True, slots=True)
class Shell:
    """Run a command with the agent's own shell tool."""

    command: str


@dataclass(frozen=True, slots=True)
class Write:
    """Write a file with the agent's own tool for that, or with its shell where it has none."""

    path: str
    content: str


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call in the words of the agent that offered the tool."""

    id: str
    name: str
    arguments: Json


WRITE_TOOLS = ("write", "Write", "write_file", "create_file")
SHELL_TOOLS = ("bash", "Bash", "exec_command", "shell_command", "shell", "run_shell_command")


def call_for(action: Shell | Write, tools: Mapping[str, Json], identity: str) -> Call:
    """The action as a call of one of the offered tools; if none fits, of one that was not offered."""
    if isinstance(action, Write):
        for name in WRITE_TOOLS:
            if name in tools:
                path = _argument(tools[name], ("path", "file_path", "filePath"))
                return Call(identity, name, {path: action.path, "content": action.content})
        action = Shell(f"printf %s {shlex.quote(action.content)} > {shlex.quote(action.path)}")
    for name in SHELL_TOOLS:
        if name in tools:
            key = _argument(tools[name], ("command", "cmd"))
            is_list = _properties(tools[name]).get(key, {}).get("type") == "array"
            return Call(identity, name, {key: ["sh", "-c", action.command] if is_list else action.command})
    return Call(identity, "bash", {"command": action.command})


def _properties(tool: Json) -> Json:
    schema = tool.get("parameters") or tool.get("input_schema") or {}
    found: Json = schema.get("properties") or {}
    return found


def _argument(tool: Json, names: Sequence[str]) -> str:
    return next((name for name in names if name in _properties(tool)), names[0])


class Dialect(Protocol):
    """How one interface writes down a history, its tools and an answer."""

    def tools(self, request: Json) -> dict[str, Json]: ...
    def history(self, request: Json) -> list[Json]: ...
    def turns(self, request: Json) -> int: ...
    def answer(self, identity: str, request: Json, text: str, calls: Sequence[Call]) -> Json: ...
    def events(self, answer: Json) -> Iterator[Event]: ...


class Chat:
    """OpenAI Chat Completions."""

    def tools(self, request: Json) -> dict[str, Json]:
        return {tool["function"]["name"]: tool["function"] for tool in request.get("tools") or ()}

    def history(self, request: Json) -> list[Json]:
        return list(request.get("messages") or ())

    def turns(self, request: Json) -> int:
        return sum(message.get("role") == "assistant" for message in self.history(request))

    def answer(self, identity: str, request: Json, text: str, calls: Sequence[Call]) -> Json:
        message: Json = {"role": "assistant", "content": text}
        if calls:
            message["tool_calls"] = [
                {
                    "index": index,
                    "id": f"call_{call.id}",
                    "type": "function",
                    "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
                }
                for index, call in enumerate(calls)
            ]
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
        usage = {
            "prompt_tokens": INPUT_TOKENS,
            "completion_tokens": OUTPUT_TOKENS,
            "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
        }
        head = {
            "id": f"chat_{identity}",
            "object": "chat.completion",
            "created": 1,
            "model": request.get("model", "scripted"),
        }
        return {**head, "choices": [choice], "usage": usage}

    def events(self, answer: Json) -> Iterator[Event]:
        head = {**answer, "object": "chat.completion.chunk"}
        (choice,) = head.pop("choices")
        usage = head.pop("usage")
        yield "", {**head, "choices": [{"index": 0, "delta": choice["message"], "finish_reason": None}]}
        yield "", {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]}
        yield "", {**head, "choices": [], "usage": usage}
        yield "", "[DONE]"


class Responses:
    """OpenAI Responses."""

    def tools(self, request: Json) -> dict[str, Json]:
        return {tool["name"]: tool for tool in request.get("tools") or () if tool.get("name")}

    def history(self, request: Json) -> list[Json]:
        return [item for item in request.get("input") or () if isinstance(item, dict)]

    def turns(self, request: Json) -> int:
        """Neighbouring items of the assistant (reasoning, text, calls) came from one answer."""
        is_own = [
            item.get("role") == "assistant" or item.get("type") in ("function_call", "custom_tool_call", "reasoning")
            for item in self.history(request)
        ]
        return sum(now and not before for before, now in zip([False, *is_own], is_own, strict=False))

    def answer(self, identity: str, request: Json, text: str, calls: Sequence[Call]) -> Json:
        output: list[Json] = []
        if text:
            content = [{"type": "output_text", "text": text, "annotations": []}]
            output.append({"type": "message", "id": f"msg_{identity}", "role": "assistant", "content": content})
        output += [
            {
                "type": "function_call",
                "id": f"item_{call.id}",
                "call_id": f"call_{call.id}",
                "name": call.name,
                "arguments": json.dumps(call.arguments),
            }
            for call in calls
        ]
        usage = {
            "input_tokens": INPUT_TOKENS,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": OUTPUT_TOKENS,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
        }
        head = {"id": f"resp_{identity}", "object": "response", "created_at": 1, "status": "completed"}
        return {**head, "model": request.get("model", "scripted"), "output": output, "usage": usage}

    def events(self, answer: Json) -> Iterator[Event]:
        begun = {**answer, "status": "in_progress", "output": [], "usage": None}
        yield _typed("response.created", response=begun)
        for index, item in enumerate(answer["output"]):
            yield _typed("response.output_item.added", output_index=index, item=item)
            yield _typed("response.output_item.done", output_index=index, item=item)
        yield _typed("response.completed", response=answer)


class Messages:
    """Anthropic Messages."""

    def tools(self, request: Json) -> dict[str, Json]:
        return {tool["name"]: tool for tool in request.get("tools") or () if tool.get("name")}

    def history(self, request: Json) -> list[Json]:
        return list(request.get("messages") or ())

    def turns(self, request: Json) -> int:
        return sum(message.get("role") == "assistant" for message in self.history(request))

    def answer(self, identity: str, request: Json, text: str, calls: Sequence[Call]) -> Json:
        content: list[Json] = [{"type": "text", "text": text}] if text else []
        content += [
            {"type": "tool_use", "id": f"toolu_{call.id}", "name": call.name, "input": call.arguments} for call in calls
        ]
        return {
            "id": f"msg_{identity}",
            "type": "message",
            "role": "assistant",
            "model": request.get("model", "scripted"),
            "content": content,
            "stop_reason": "tool_use" if calls else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS},
        }

    def events(self, answer: Json) -> Iterator[Event]:
        yield _typed("message_start", message={**answer, "content": [], "stop_reason": None})
        for index, block in enumerate(answer["content"]):
            if block["type"] == "text":
                empty: Json = {"text": ""}
                delta = {"type": "text_delta", "text": block["text"]}
            else:
                empty = {"input": {}}
                delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            yield _typed("content_block_start", index=index, content_block={**block, **empty})
            yield _typed("content_block_delta", index=index, delta=delta)
            yield _typed("content_block_stop", index=index)
        ended = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
        yield _typed("message_delta", delta=ended, usage=answer["usage"])
        yield _typed("message_stop")


def _typed(kind: str, **content: Any) -> Event:
    return kind, {"type": kind, **content}


DIALECTS: Mapping[str, Dialect] = {
    "/chat/completions": Chat(),
    "/responses": Responses(),
    "/messages": Messages(),
}
