"""Locks a disposable checkout for its use: made from scratch, prepared like a workspace, then wiped.

It stands at a fixed path, so that a set-up made for that path (a venv) can be kept and moved in again. The order:

1. lock, so that two proofs of one task wait for each other; wipe what an earlier run left;
2. the frozen tree in a repository of its own (checkout.py);
3. `copy` and `carry` from the user's work tree;
4. set-up (set_up.py);
5. the caller's work; wipe; unlock.

A file of the frozen tree is never replaced by one that was copied, kept or made by set-up.
"""

from __future__ import annotations

import os
from contextlib import contextmanager

from detent.effects.git.bring import bring, wipe
from detent.effects.workspace.checkout import Checkout, SetupFailed, make_checkout
from detent.store.disk.atomic import storage_error
from detent.store.disk.lock import Lock
from detent.words.effects import workspace as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from detent.effects.git.bring import Place
    from detent.effects.workspace.checkout import CheckoutSpec

LOCK_WAIT_S = 1800.0


@contextmanager
def prepared_checkout(wanted: CheckoutSpec, lock_wait_s: float = LOCK_WAIT_S) -> Iterator[Checkout | SetupFailed]:
    """Hold a checkout of the frozen tree for the length of a `with` block, or say why set-up failed."""
    with _locked(wanted, lock_wait_s) as ours:
        try:
            yield _make_anew(ours)
        finally:
            _clear(ours)


def lasting_checkout(wanted: CheckoutSpec) -> Checkout | SetupFailed:
    """The same for work in it outside the engine: it stays until it is made again."""
    with _locked(wanted, LOCK_WAIT_S) as ours:
        return _make_anew(ours)


@contextmanager
def _locked(wanted: CheckoutSpec, wait_s: float) -> Iterator[CheckoutSpec]:
    folder = os.path.abspath(wanted.folder)
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    with Lock(f"{folder}.lock", wait_s):
        yield wanted.replace(folder=folder)


def _clear(wanted: CheckoutSpec) -> None:
    """Remove the checkout; a set-up that was lent to it stays."""
    if wanted.workspace.setup:
        from detent.effects.workspace.kept_setups import take_back  # only where there is something to set up

        take_back(wanted.cache_dir, wanted.folder)
    wipe(wanted.folder)


def _make_anew(wanted: CheckoutSpec) -> Checkout | SetupFailed:
    _clear(wanted)
    if wanted.task_cache:
        wipe(wanted.task_cache)
    try:
        place = make_checkout(wanted.folder, wanted.frozen, wanted.work_tree)
        return place if isinstance(place, SetupFailed) else _prepare(place, wanted)
    except OSError as problem:
        raise storage_error(problem, wanted.folder, say.checkout_not_made()) from problem


def _prepare(place: Place, wanted: CheckoutSpec) -> Checkout | SetupFailed:
    workspace = wanted.workspace
    missing = bring(place, workspace.copy)
    if missing:
        why = say.nothing_to_copy()
        return SetupFailed(command=f"copy {', '.join(missing)}", exit=1, log="", why=why)
    missing = bring(place, workspace.carry)
    if not workspace.setup:
        return Checkout(place.folder, missing, "none")
    from detent.effects.workspace.set_up import set_up  # only where there is something to set up

    return set_up(place, wanted, missing)
