"""Receipts: what the engine itself ran, on which tree, with which exit. Every attempt is kept, the last one counts."""

from __future__ import annotations

import json
import os

from detent.core.record import Record
from detent.errors import UnreadableError
from detent.store.disk.atomic import as_json, read_plain, write_atomic
from detent.store.disk.digest import sha256_of
from detent.store.journal.vouched import prints_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from detent.store.journal.run_events import Print
    from detent.store.text.census import Census

SETUP_FAILED = "set-up failed"
LARGEST_CENSUS_BYTES = 256_000_000
_LARGEST_RECEIPT_BYTES = 1_000_000


class Receipt(Record):
    key: str
    command: str
    tree: str
    attempts: tuple[int, ...]  # exit codes, oldest first; negative = signal
    log: str
    problem: str = ""  # set-up failed or timed out: the command was not run to its end
    time: str = ""
    where: str = ""  # in words, when it was run elsewhere than on the task's own tree
    withheld: str = ""  # of a red command: names of the user's variables that it was not given
    output: str = ""  # what it printed, where that is compared with something; else only the log has it
    said: str = ""  # of a red command: its last lines, without secrets
    census: str = ""  # hash of what its test runners reported, which lies beside the log
    doubt: str = ""  # why a green exit is not believed
    excused: str = ""  # how many tests failed in the last run, all accepted as red by a person or flaky
    uncounted: str = ""  # why nothing is known of its tests, and on the next line what to do about it
    flaky: str = ""  # names of tests that failed in one of these runs and passed in another, one a line
    digest: str = ""  # of the file it was read from; what the journal vouches for

    @property
    def is_unrun(self) -> bool:
        """The checkout could not be made ready, so the command says nothing yet; it is tried again whenever asked."""
        return self.problem.startswith(SETUP_FAILED)

    @property
    def result(self) -> str:
        """How it ended, in a few words."""
        return self.problem or (f"exit {self.attempts[-1]}" + (f", but {self.doubt}" if self.doubt else ""))

    @property
    def is_green(self) -> bool:
        return self.ended_with(0)

    def ended_with(self, code: int) -> bool:
        """Whether the command came to its own end, and with this exit."""
        if self.problem or self.doubt or not self.attempts:
            return False
        return self.attempts[-1] == code or (code == 0 and bool(self.excused))


class ReceiptStore:
    """The receipts of one task, one file per key."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def path(self, key: str) -> str:
        return os.path.join(self.folder, f"{key}.json")

    def log_path(self, key: str, attempt: int) -> str:
        return os.path.join(self.folder, f"{key[:16]}-{attempt}.log")

    def census_path(self, receipt: Receipt) -> str:
        return f"{receipt.log}.census"

    def census(self, receipt: Receipt) -> Census | None:
        """What the test runners of the last attempt reported; None where nothing was, or it is not what was kept."""
        path = self.census_path(receipt)
        data = read_plain(path, LARGEST_CENSUS_BYTES) if receipt.census else None
        if data is None or sha256_of(data) != receipt.census:
            return None
        from detent.store.text.census import from_json  # only proof asks for tests

        return from_json(json.loads(data), path)

    def keep_census(self, receipt: Receipt, census: Census) -> Receipt:
        """Write down what was reported; the receipt that is returned names it by its hash."""
        from detent.store.text.census import to_json  # only proof asks for tests

        data = as_json(to_json(census))
        write_atomic(self.census_path(receipt), data, durable=True)
        return receipt.replace(census=sha256_of(data))

    def find(self, key: str) -> Receipt | None:
        """The receipt, or None; one that can't be read proves nothing."""
        try:
            data = read_plain(self.path(key), _LARGEST_RECEIPT_BYTES)
            if data is None:
                return None
            content = json.loads(data)
            attempts, texts = content.pop("attempts"), content
            if not _are(int, attempts) or not _are(str, list(texts.values())):
                return None
            receipt = Receipt(attempts=tuple(attempts), digest=sha256_of(data), **texts)
        except (UnreadableError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return None
        return receipt if receipt.key == key else None

    def logs_of(self, receipts: Iterable[Receipt]) -> dict[str, Print]:
        """Size and hash of the log of each last attempt, by name; the log of a set-up is written again each time."""
        made = (receipt for receipt in receipts if not receipt.is_unrun)
        return prints_of(self.folder, (os.path.basename(receipt.log) for receipt in made), sync=True)

    def save(self, receipt: Receipt) -> Receipt:
        """Write a receipt; what is returned carries the hash of what was written."""
        data = as_json({field: getattr(receipt, field) for field in receipt._fields if field != "digest"})
        write_atomic(self.path(receipt.key), data, durable=True)
        return receipt.replace(digest=sha256_of(data))


def _are(kind: type, values: object) -> bool:
    """Exactly of this type: a receipt that says `false` or `0.4` where an exit code belongs was not written by us."""
    return isinstance(values, list) and all(type(value) is kind for value in values)
