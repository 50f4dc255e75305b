"""Tests of reading agents' output; the events are shortened from what real programs printed."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from detent.effects.agents.events import EventReader, Usage, classify, read_usage

NOW_S = 1_800_000_000.0  # 2027-01-15T08:00:00Z

Event = dict[str, Any]


def pi_turn(text: str = "", error: str = "") -> Event:
    usage = {"input": 100, "output": 20, "cacheRead": 5, "cacheWrite": 2, "cost": {"total": 0.25}}
    message: Event = {"role": "assistant", "content": [{"type": "text", "text": text}], "usage": usage}
    failed = {"stopReason": "error", "errorMessage": error, "content": [], "usage": {"input": 0, "output": 0}}
    return {"type": "message_end", "message": {**message, **(failed if error else {"stopReason": "stop"})}}


PI_START: list[Event] = [{"type": "session", "id": "s-1"}, {"type": "agent_start"}, {"type": "turn_start"}]
PI_END: Event = {"type": "agent_end", "messages": [pi_turn("a repetition")["message"]]}
CODEX_START: list[Event] = [{"type": "thread.started", "thread_id": "t-1"}, {"type": "turn.started"}]
CODEX_END: Event = {"type": "turn.completed", "usage": {"input_tokens": 300, "output_tokens": 60}}
CLAUDE_START: Event = {"type": "system", "subtype": "init", "session_id": "c-1"}


def codex_item(**item: Any) -> Event:
    return {"type": "item.completed", "item": {"id": "item_1", **item}}


def claude_message(name: str, *content: Event, **more: Any) -> Event:
    usage = {"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 7}
    return {
        "type": "assistant",
        "session_id": "c-1",
        "message": {"id": name, "content": list(content), "usage": usage},
        **more,
    }


def claude_result(**more: Any) -> Event:
    usage = {"input_tokens": 200, "output_tokens": 40, "cache_creation_input_tokens": 3, "cache_read_input_tokens": 4}
    return {"type": "result", "subtype": "success", "is_error": False, "session_id": "c-1", "usage": usage, **more}


def lines(*events: Event) -> bytes:
    return b"".join(json.dumps(event, separators=(",", ":")).encode() + b"\n" for event in events)


def usage_of(tmp_path: Path, events: str, *items: Event) -> Usage:
    return usage_of_bytes(tmp_path, events, lines(*items))


def usage_of_bytes(tmp_path: Path, events: str, data: bytes) -> Usage:
    path = tmp_path / "output"
    path.write_bytes(data)
    return read_usage(str(path), events, NOW_S)


def test_pi_tells_turns_tokens_cost_session_and_its_last_words(tmp_path: Path) -> None:
    denied = {"content": [{"type": "text", "text": "Tool bash not found"}]}
    usage = usage_of(
        tmp_path,
        "pi",
        *PI_START,
        {"type": "tool_execution_end", "toolName": "bash", "result": denied, "isError": True},
        {
            "type": "tool_execution_end",
            "toolName": "read",
            "result": {"content": [{"type": "text", "text": "file not found"}]},
            "isError": True,
        },
        pi_turn("I write."),
        pi_turn("All done."),
        PI_END,
    )
    assert usage == Usage(
        turns=2,
        input_tokens=214,
        output_tokens=40,
        cost_usd=0.5,
        denials=1,
        session="s-1",
        last_text="All done.",
        has_ended=True,
    )
    assert classify("finished", usage) == "finished"


def test_pi_has_a_session_from_the_first_answer_on(tmp_path: Path) -> None:
    question: Event = {"type": "message_end", "message": {"role": "user", "content": [{"type": "text", "text": "Go."}]}}
    assert usage_of(tmp_path, "pi", *PI_START, question).session == ""
    killed_in_a_tool = usage_of(tmp_path, "pi", *PI_START, question, pi_turn("I write."))
    assert (killed_in_a_tool.session, killed_in_a_tool.turns, killed_in_a_tool.output_tokens) == ("s-1", 1, 20)


def test_pi_ends_with_0_after_an_error_of_the_model(tmp_path: Path) -> None:
    usage = usage_of(tmp_path, "pi", *PI_START, pi_turn(error="401 bad key"), PI_END)
    assert (usage.is_error, usage.errors, usage.turns) == (True, ("401 bad key",), 0)
    assert classify("finished", usage) == "failed"


def test_an_error_fixed_by_a_retry_is_no_failure(tmp_path: Path) -> None:
    again = {"type": "auto_retry_start", "attempt": 1}
    usage = usage_of(
        tmp_path,
        "pi",
        *PI_START,
        pi_turn(error="429 retry in 9s"),
        PI_END,
        again,
        *PI_START[1:],
        pi_turn("Done."),
        PI_END,
    )
    assert (usage.is_error, usage.is_quota, usage.errors, usage.quota_until) == (False, False, ("429 retry in 9s",), "")
    assert classify("finished", usage) == "finished"


def test_an_agent_that_still_retries_has_not_ended(tmp_path: Path) -> None:
    usage = usage_of(tmp_path, "pi", *PI_START, pi_turn(error="429 retry in 9s"), PI_END, *PI_START[1:])
    assert (usage.has_ended, usage.is_error) == (False, True)
    assert classify("timeout", usage) == "quota"


def test_a_quota_tells_when_to_wake(tmp_path: Path) -> None:
    usage = usage_of(tmp_path, "pi", *PI_START, pi_turn(error="429 Rate limit reached, try again in 20s"), PI_END)
    assert (usage.is_quota, usage.quota_until) == (True, "2027-01-15T08:00:20Z")


def test_codex_tells_its_tokens_at_the_end(tmp_path: Path) -> None:
    usage = usage_of(
        tmp_path,
        "codex",
        *CODEX_START,
        codex_item(type="error", message="Model metadata not found"),
        codex_item(type="agent_message", text="I write."),
        codex_item(type="command_execution", status="declined"),
        codex_item(type="command_execution", status="completed", exit_code=0),
        codex_item(type="agent_message", text="All done."),
        CODEX_END,
    )
    assert usage == Usage(
        turns=2, input_tokens=300, output_tokens=60, denials=1, session="t-1", last_text="All done.", has_ended=True
    )


def test_codex_that_reconnected_has_not_failed(tmp_path: Path) -> None:
    lost = {"type": "error", "message": "Reconnecting... 1/5 (stream disconnected)"}
    usage = usage_of(tmp_path, "codex", *CODEX_START, lost, codex_item(type="agent_message", text="Done."), CODEX_END)
    assert not usage.is_error
    assert usage.errors == (lost["message"],)


def test_codex_that_failed_says_why(tmp_path: Path) -> None:
    words = "exceeded retry limit, last status: 429 Too Many Requests"
    failed = {"type": "turn.failed", "error": {"message": words}}
    usage = usage_of(tmp_path, "codex", *CODEX_START, {"type": "error", "message": words}, failed)
    assert usage.errors == (words,)
    assert classify("failed", usage) == "quota"


def test_claude_tells_its_sums_in_the_result(tmp_path: Path) -> None:
    usage = usage_of(
        tmp_path,
        "claude",
        CLAUDE_START,
        claude_message("m-1", {"type": "text", "text": "I write."}),
        claude_message("m-1", {"type": "tool_use", "name": "Write"}),
        {"type": "system", "subtype": "permission_denied", "tool_name": "Write"},
        claude_message("m-2", {"type": "text", "text": "All done."}),
        claude_result(
            num_turns=3,
            result="All done.",
            total_cost_usd=0.9,
            model_usage_since_last_result={"a": {"costUSD": 0.25}, "b": {"costUSD": 0.5}},
            permission_denials=[{"tool_name": "Write"}],
        ),
    )
    assert usage == Usage(
        turns=2,
        input_tokens=207,
        output_tokens=40,
        cost_usd=0.75,
        denials=1,
        session="c-1",
        last_text="All done.",
        has_ended=True,
    )


def test_claude_without_a_result_has_only_what_its_messages_tell(tmp_path: Path) -> None:
    message = claude_message("m-1", {"type": "text", "text": "One."})
    usage = usage_of(
        tmp_path, "claude", CLAUDE_START, message, message, claude_message("m-2", {"type": "text", "text": "Two."})
    )
    assert (usage.turns, usage.input_tokens, usage.output_tokens, usage.has_ended) == (2, 214, 40, False)
    assert classify("finished", usage) == "failed"
    assert classify("killed", usage) == "killed"


@pytest.mark.parametrize(
    ("words", "status", "expected"),
    [
        ("API Error: 500 no luck", 500, "failed"),
        ("API Error: Request rejected (429)", 429, "quota"),
        ("API Error: rejected", 429, "quota"),
    ],
)
def test_claude_ends_in_an_error_that_looks_like_an_answer(
    tmp_path: Path, words: str, status: int, expected: str
) -> None:
    error = claude_message("m-1", {"type": "text", "text": words}, is_api_error_message=True)
    result = claude_result(is_error=True, api_error_status=status, result=words, num_turns=1)
    usage = usage_of(tmp_path, "claude", CLAUDE_START, error, result)
    assert usage.errors == (words,)
    assert usage.last_text == ""
    assert classify("failed", usage) == expected


def test_claude_has_a_session_from_the_first_answer_on(tmp_path: Path) -> None:
    result = claude_result(subtype="error_during_execution", is_error=True)
    assert usage_of(tmp_path, "claude", CLAUDE_START, result).session == ""
    assert usage_of(tmp_path, "claude", CLAUDE_START, claude_message("m-1")).session == "c-1"


def test_claude_stopped_by_its_own_bound_is_an_error(tmp_path: Path) -> None:
    usage = usage_of(tmp_path, "claude", CLAUDE_START, claude_result(subtype="error_max_turns", num_turns=3))
    assert (usage.is_error, usage.errors) == (True, ("error_max_turns",))


def test_claude_tells_the_reset_as_a_number(tmp_path: Path) -> None:
    limited = {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": NOW_S + 3600}}
    result = claude_result(is_error=True, api_error_status=429, result="You've hit your limit")
    usage = usage_of(tmp_path, "claude", CLAUDE_START, limited, result)
    assert usage.quota_until == "2027-01-15T09:00:00Z"


def test_plain_text_is_judged_by_its_exit_alone(tmp_path: Path) -> None:
    usage = usage_of_bytes(tmp_path, "text", b"working\nI fixed the rate limit code\n")
    assert usage.last_text == "working\nI fixed the rate limit code"
    assert classify("finished", usage) == "finished"
    assert classify("timeout", usage) == "timeout"
    assert classify("failed", usage_of_bytes(tmp_path, "text", b"bye\n")) == "failed"


def test_plain_text_that_fails_with_quota_on_its_lips_waits(tmp_path: Path) -> None:
    usage = usage_of_bytes(tmp_path, "text", b"Error: usage limit reached, try again in 1h\n")
    assert (classify("failed", usage), usage.quota_until) == ("quota", "2027-01-15T09:00:00Z")


@pytest.mark.parametrize("exit_class", ["killed", "lost"])
def test_a_killed_or_lost_run_stays_so(exit_class: str) -> None:
    assert classify(exit_class, Usage(is_error=True, is_quota=True)) == exit_class


def test_a_torn_line_waits_for_its_rest(tmp_path: Path) -> None:
    path = tmp_path / "output"
    data = lines(*PI_START, pi_turn("Dönë."), PI_END)
    reader = EventReader(str(path), "pi")
    assert reader.read(NOW_S) == Usage()
    with path.open("wb") as file:
        for position in range(0, len(data), 7):
            file.write(data[position : position + 7])
            file.flush()
            assert reader.read(NOW_S).garbage_lines == 0
    assert reader.finish(NOW_S) == read_usage(str(path), "pi", NOW_S)
    assert reader.read(NOW_S).last_text == "Dönë."


def test_torn_last_lines_are_garbage_but_unterminated_ones_count(tmp_path: Path) -> None:
    data = lines(*PI_START, pi_turn("Done."), PI_END)
    assert usage_of_bytes(tmp_path, "pi", data[:-1]).has_ended
    torn = usage_of_bytes(tmp_path, "pi", data[:-5])
    assert (torn.has_ended, torn.garbage_lines, torn.last_text) == (False, 1, "Done.")


def test_garbage_is_counted_and_passed_over(tmp_path: Path) -> None:
    garbage = b'npm warn\n\xff\xfe\n[1,2]\n"text"\n\n' + b"[" * 100_000 + b"\n"
    usage = usage_of_bytes(tmp_path, "pi", garbage + lines(*PI_START, pi_turn("Done."), PI_END) + garbage)
    assert (usage.garbage_lines, usage.last_text, usage.is_error) == (10, "Done.", False)


@pytest.mark.parametrize("events", ["pi", "codex", "claude"])
def test_events_of_an_unexpected_shape_break_nothing(tmp_path: Path, events: str) -> None:
    kinds = (
        *("session", "message_end", "tool_execution_end", "item.completed", "turn.failed", "turn.completed", "error"),
        *("assistant", "result", "rate_limit_event", "system", "thread.started"),
    )
    strange: list[Event] = []
    for kind in (*kinds, 3, None):
        for value in (None, 3, -1, "x", [], [3], {}, {"content": 3}, {"usage": {"input": "x", "output": True}}):
            keys = ("id", "message", "usage", "result", "item", "error", "rate_limit_info", "num_turns", "thread_id")
            strange.append({"type": kind, **dict.fromkeys(keys, value)})
    usage = usage_of(tmp_path, events, *strange)
    assert (usage.input_tokens, usage.garbage_lines) == (0, 0)


def usage_and_peak(path: Path) -> tuple[Usage, int]:
    tracemalloc.start()
    try:
        return read_usage(str(path), "pi", NOW_S), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_fifty_megabytes_are_read_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "output"
    update = b'{"type":"message_update","partial":"' + b"x" * 100_000 + b"\n"  # not JSON: it must not even be parsed
    turn = lines(pi_turn("y" * 100_000))
    with path.open("wb") as file:
        file.write(lines(*PI_START))
        for _ in range(250):
            file.write(update + turn)
        file.write(lines(PI_END))
    assert path.stat().st_size > 50_000_000
    usage, peak = usage_and_peak(path)
    assert (usage.turns, usage.has_ended, usage.garbage_lines) == (250, True, 0)
    assert peak < 10_000_000


def test_a_line_without_end_is_given_up(tmp_path: Path) -> None:
    path = tmp_path / "output"
    path.write_bytes(b"x" * 50_000_000 + b"\n" + lines(*PI_START, pi_turn("Done."), PI_END))
    usage, peak = usage_and_peak(path)
    assert (usage.garbage_lines, usage.last_text) == (1, "Done.")
    assert peak < 45_000_000


def test_only_the_newest_errors_are_kept(tmp_path: Path) -> None:
    usage = usage_of(tmp_path, "pi", *PI_START, *(pi_turn(error=f"500 number {number}") for number in range(30)))
    assert len(usage.errors) == 20
    assert usage.errors[-1] == "500 number 29"
