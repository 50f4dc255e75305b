"""What is wrong with a journal, its lines and the task folder: the sentences of the journal."""

from __future__ import annotations

from detent.words.message import message


@message
def unreadable(reason: str) -> str:
    return f"journal can't be read: {reason}"


@message
def no_journal() -> tuple[str, str]:
    return "the task has no journal", "put it back from a backup"


@message
def line_too_long(size_bytes: int) -> str:
    return f"journal line would have {size_bytes} bytes"


@message
def not_written() -> str:
    return "journal can't be written"


@message
def has_lines_already() -> str:
    return "it has lines already"


@message
def other_size(size: int, expected_size: int) -> str:
    return f"it has {size} bytes, not {expected_size}"


@message
def more_lines() -> str:
    return "it has more lines"


@message
def changed_without_lock(how: str) -> tuple[str, str]:
    return (
        f"journal was changed by somebody who does not hold the task's lock: {how}",
        "find out who writes there, then run: detent audit",
    )


@message
def not_json() -> str:
    return "it is not JSON"


@message
def not_that_line(number: int) -> str:
    return f"it should be line {number} of the chain"


@message
def chain_broken() -> str:
    return "it does not follow from the line before; a line was changed, added or removed"


@message
def no_kind() -> str:
    return "it has no kind"


@message
def unknown_kind(seq: int, kind: str) -> str:
    return f"line {seq} is of the kind {kind!r:.40}, which this one does not know"


@message
def format_no_number(found: object) -> str:
    return f"its format is {found!r:.40}, which is no number"


@message
def newer_format(found: int, known: int) -> str:
    return f"the journal has format {found}, this one knows {known}"


@message
def newer(how: str) -> tuple[str, str]:
    return f"written by a newer Detent: {how}", "use the Detent that wrote it, or a newer one; nothing was changed"


@message
def damaged(number: int, why: str) -> tuple[str, str]:
    return f"journal is damaged in line {number}: {why}", "put the file back from a backup, then run: detent audit"


@message
def task_folder_is_link() -> tuple[str, str]:
    return "the task folder was replaced by a link", "put it back"


@message
def newer_version(file: str, label: str, found: str, known: int) -> tuple[str, str]:
    return (
        f"{file}: {label} is {found[:20]}, and this version of detent knows {known}",
        "use a newer detent; or go back to the last text this one wrote: detent doctor --repair",
    )


@message
def no_task_id(text: str, most: int) -> tuple[str, str]:
    return f"{text!r} can't be a task id", (
        f"use up to {most} letters, digits, '-', '_' and '.'; not '-' or '.' first, not '.' or '.lock' last, "
        "and no '..'"
    )


@message
def cut_short(seq: int) -> tuple[str, str]:
    return (
        f"journal no longer holds line {seq}, which was acknowledged: it was cut or changed",
        "put the file back from a backup, then run: detent audit",
    )


@message
def empty() -> tuple[str, str]:
    return "the journal is empty", "put it back from a backup"


@message
def line_lacks(seq: int, field: Exception) -> tuple[str, str]:
    return f"journal line {seq} lacks {field}", "detent audit"


@message
def line_does_not_fit(seq: int, problem: Exception) -> tuple[str, str]:
    return f"journal line {seq} does not fit: {problem}", "detent audit"


@message
def file_missing(file: str) -> str:
    return f"{file} is missing"


@message
def file_empty(file: str) -> str:
    return f"{file} is empty"
