"""What the lines of each agent's output mean; every format keeps a running tally and forgets the lines.

Agents retry by themselves, so an error counts only while nothing better follows it. Unknown events are passed over: an
agent may learn new ones at any time.
"""

from __future__ import annotations

from detent.core.record import Record
from detent.effects.agents.quota import is_quota
from detent.words.effects import agents as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    Reads = Callable[[Mapping[str, Any], "Tally"], None]

TEXT = "text"  # the format of an agent whose output is not read event by event
MOST_ERRORS = 20
LARGEST_AMOUNT = 1e12  # tokens, dollars or seconds
LONGEST_TEXT = 20_000  # characters kept of one error or of the last text


class Tally:
    """What has been seen so far; a format only ever adds to it."""

    def __init__(self) -> None:
        self.turns = 0
        self.input_tokens = 0
        self.output_tokens = 0
        self.cost_usd = 0.0
        self.denials = 0
        self.errors: list[str] = []
        self.session = ""
        self.last_text = ""
        self.is_error = False
        self.is_quota = False
        self.resets_at_s = 0.0
        self.has_ended = False
        self.garbage_lines = 0

    def fail(self, text: str) -> None:
        """An error that stands until something better follows; the newest are kept."""
        self.is_error = True
        self.is_quota = is_quota(text)
        kept = text[:LONGEST_TEXT]
        self.errors = [*(error for error in self.errors if error != kept), kept][-MOST_ERRORS:]

    def recover(self) -> None:
        self.is_error = self.is_quota = False

    def say(self, text: object) -> None:
        if isinstance(text, str) and text.strip():
            self.last_text = text[-LONGEST_TEXT:]


class Pi:
    """`pi --mode json`: `message_end` carries one answer of the model, before its tools are run; the rest repeats it.

    pi keeps a session only from the first answer on: one that died before can't be gone on with.
    """

    def __init__(self) -> None:
        self._session = ""

    def __call__(self, event: Mapping[str, Any], tally: Tally) -> None:
        match event.get("type"):
            case "session":
                self._session = _text_or_empty(event.get("id"))
            case "agent_start":
                tally.has_ended = False
            case "message_end" if (message := _table(event.get("message"))).get("role") == "assistant":
                tally.session = self._session
                _pi_answer(message, tally)
            case "tool_execution_end":
                # A tool outside the list it was started with answers so; other failures are the tool's own business.
                said = _content_text(_table(event.get("result")).get("content"))
                is_denied = event.get("isError") is True and said.startswith("Tool ") and said.endswith(" not found")
                tally.denials += is_denied
            case "agent_end":
                tally.has_ended = True
            case _:
                pass


def _pi_answer(message: Mapping[str, Any], tally: Tally) -> None:
    usage = _table(message.get("usage"))
    tally.input_tokens += sum(_count(usage.get(name)) for name in ("input", "cacheRead", "cacheWrite"))
    tally.output_tokens += _count(usage.get("output"))
    tally.cost_usd += _amount(_table(usage.get("cost")).get("total"))
    if message.get("stopReason") in ("error", "aborted"):
        tally.fail(_text_or_empty(message.get("errorMessage")) or say.answer_broken_off())
        return
    tally.turns += 1
    tally.recover()
    tally.say(_content_text(message.get("content")))


def codex(event: Mapping[str, Any], tally: Tally) -> None:
    """`codex exec --json`: tokens come once, at the end, and are those of the whole session even if it was resumed."""
    match event.get("type"):
        case "thread.started":
            tally.session = _text_or_empty(event.get("thread_id"))
        case "turn.started":
            tally.has_ended = False
        case "item.completed":
            item = _table(event.get("item"))
            if item.get("type") == "agent_message":
                tally.turns += 1
                tally.recover()
                tally.say(item.get("text"))
            tally.denials += item.get("status") == "declined"
        case "error":
            tally.fail(_text_or_empty(event.get("message")) or say.agent_reported_error())
        case "turn.failed":
            tally.fail(_text_or_empty(_table(event.get("error")).get("message")) or say.turn_failed())
            tally.has_ended = True
        case "turn.completed":
            usage = _table(event.get("usage"))
            tally.input_tokens = _count(usage.get("input_tokens"))
            tally.output_tokens = _count(usage.get("output_tokens"))
            tally.recover()
            tally.has_ended = True
        case _:
            pass


class Claude:
    """`claude --output-format stream-json`: `result` tells the sums; a run that was killed has only its messages.

    Its `num_turns` counts tool calls, and answers that never came: it serves only where no message was seen. A session
    is kept only from the first answer on, and a new one is named where the old could not be found.
    """

    def __init__(self) -> None:
        self._last_message = ""

    def __call__(self, event: Mapping[str, Any], tally: Tally) -> None:
        match event.get("type"):
            case "assistant":
                tally.session = _text_or_empty(event.get("session_id")) or tally.session
                self._message(event, tally)
            case "system" if event.get("subtype") == "permission_denied":
                tally.denials += 1
            case "rate_limit_event":
                info = _table(event.get("rate_limit_info"))
                if info.get("status") == "rejected":
                    tally.resets_at_s = _amount(info.get("resetsAt"))
            case "result":
                self._result(event, tally)
            case _:
                pass

    def _message(self, event: Mapping[str, Any], tally: Tally) -> None:
        message = _table(event.get("message"))
        text = _content_text(message.get("content"))
        if event.get("is_api_error_message") is True:
            tally.fail(text or _text_or_empty(event.get("error")))
            return
        # One answer comes as several events with the same name, each with the usage of the whole.
        if message.get("id") != self._last_message:
            self._last_message = _text_or_empty(message.get("id"))
            tally.turns += 1
            usage = _table(message.get("usage"))
            tally.input_tokens += _claude_input(usage)
            tally.output_tokens += _count(usage.get("output_tokens"))
        tally.recover()
        tally.say(text)

    def _result(self, event: Mapping[str, Any], tally: Tally) -> None:
        usage = _table(event.get("usage"))
        tally.input_tokens = _claude_input(usage)
        tally.output_tokens = _count(usage.get("output_tokens"))
        tally.cost_usd = _claude_cost(event)
        denials = event.get("permission_denials")
        tally.denials = max(tally.denials, len(denials) if isinstance(denials, list) else 0)
        tally.has_ended = True
        text = _text_or_empty(event.get("result"))
        if event.get("is_error") is True or _text_or_empty(event.get("subtype")).startswith("error"):
            tally.fail(
                text
                or _text_or_empty(_table(event.get("error")).get("message"))
                or _text_or_empty(event.get("subtype"))
            )
            tally.is_quota = tally.is_quota or event.get("api_error_status") == 429
        else:
            tally.turns = tally.turns or _count(event.get("num_turns"))
            tally.recover()
            tally.say(text)


def _claude_input(usage: Mapping[str, Any]) -> int:
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return sum(_count(usage.get(name)) for name in names)


def _claude_cost(event: Mapping[str, Any]) -> float:
    """The cost of this run; `total_cost_usd` also holds that of the earlier runs of a resumed session."""
    parts = event.get("model_usage_since_last_result")
    if isinstance(parts, dict):
        return sum(_amount(_table(part).get("costUSD")) for part in parts.values())
    return _amount(event.get("total_cost_usd"))


class Format(Record):
    """How the output of an agent is read; `events` of `catalog.toml` names one."""

    name: str
    reader: Callable[[], Reads] | None = None  # makes a fresh reader of its events; none where it is plain text
    skipped: tuple[bytes, ...] = ()  # lines that begin so carry nothing we count
    tells_cost: bool = False


FORMATS: Mapping[str, Format] = {
    format_.name: format_
    for format_ in (
        # pi repeats the whole message in each of these lines, so parsing them is slow.
        Format(
            "pi",
            Pi,
            (b'{"type":"message_update"', b'{"type":"message_start"', b'{"type":"tool_execution_update"'),
            tells_cost=True,
        ),
        Format("codex", lambda: codex),
        Format("claude", Claude, tells_cost=True),
        Format(TEXT),
    )
}


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text_or_empty(value: object) -> str:
    return value if isinstance(value, str) else ""


def _amount(value: object) -> float:
    # JSON has numbers without end, and Python reads Infinity too; an impossible amount counts as none.
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0.0
    return float(value) if 0 <= value < LARGEST_AMOUNT else 0.0


def _count(value: object) -> int:
    return int(_amount(value))


def _content_text(content: object) -> str:
    """The texts of a message's blocks, without its calls and thoughts."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(_text_or_empty(block.get("text")) for block in blocks if _table(block).get("type") == "text")
