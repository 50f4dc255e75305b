"""Sets a checkout up: chooses which set-up applies to its tree, and has it made and laid.

- The tree has the baseline's key, and the project shares set-ups: the one of the baseline, the same for all tasks.
- The same without mounts: made from the baseline's tree at this very path, and kept for this checkout alone
  (kept_setups.py).
- A key file changed, or there is nothing to share by: set-up runs on this tree, for this tree, and is not kept.
"""

from __future__ import annotations

import os

from detent.core.record import Record
from detent.effects.git.bring import changed_files_of, created_bytes, created_paths, marks, wipe
from detent.effects.git.git import tree_of
from detent.effects.host.access import Laid
from detent.effects.workspace.checkout import (
    COPIED,
    FROM_TREE,
    PER_CHECKOUT,
    SHARED,
    Checkout,
    SetupFailed,
    make_checkout,
    run_setup,
    tracked_at_first,
)
from detent.effects.workspace.kept_setups import find, keep, lend
from detent.effects.workspace.lay import Ground, copied_bytes, lay_read_only, lay_writable, read_only
from detent.effects.workspace.setup_key import Key, key_of
from detent.effects.workspace.setups import Order, shared_setup
from detent.store.disk.digest import sha256_of
from detent.words.effects import workspace as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from detent.effects.git.bring import Place
    from detent.effects.workspace.checkout import CheckoutSpec, FrozenTree, Workspace


NO_MOUNTS = say.no_mounts()


class Choice(Record):
    """Which set-up applies to a tree, and why it is not the shared one."""

    how: str
    why: str
    key: str


def choose(frozen: FrozenTree, tree: str, workspace: Workspace, work_tree: str, search_path: str) -> Choice:
    """The baseline's set-up, where the tree goes by the same files as the baseline; else one of its own."""
    key = key_of(frozen.private_dir, tree, workspace, work_tree, search_path)
    if not workspace.key:
        return Choice(FROM_TREE, say.no_lock_file_named(), key.text)
    if frozen.baseline is None:
        return Choice(FROM_TREE, say.no_first_commit(), key.text)
    base = base_key(frozen, workspace, work_tree, search_path)
    if not base.has_lock:
        return Choice(FROM_TREE, say.first_commit_lacks(workspace.key), key.text)
    if key.text != base.text:
        return Choice(FROM_TREE, say.changed(key.changed_since(base)), key.text)
    return Choice(SHARED, "", base.text)


def base_key(frozen: FrozenTree, workspace: Workspace, work_tree: str, search_path: str) -> Key:
    return key_of(frozen.private_dir, base_tree(frozen), workspace, work_tree, search_path)


def base_tree(frozen: FrozenTree) -> str:
    return tree_of(frozen.private_dir, frozen.baseline or frozen.tree)


def order_of(frozen: FrozenTree, tree: str, key: str, workspace: Workspace, work_tree: str, log_path: str) -> Order:
    """A set-up of one tree, whatever the checkout it is for has changed."""
    return Order(key, frozen.replace(tree=tree, protected=(), commit=""), workspace, work_tree, log_path)


def set_up(place: Place, wanted: CheckoutSpec, missing: tuple[str, ...]) -> Checkout | SetupFailed:
    """A checkout with all its files, set up."""
    workspace, setups = wanted.workspace, wanted.setups
    search_path = wanted.running.env.get("PATH", os.defpath)
    choice = choose(wanted.frozen, place.tree, workspace, wanted.work_tree, search_path)
    seat = setups.seat if setups is not None else ""
    ready = Checkout(place.folder, missing, choice.how, choice.why, Laid(seat), Laid(seat), choice.key)
    ready = ready.replace(tracked=place.tracked)
    if choice.how == FROM_TREE:
        return _set_up_for_tree(place, wanted, ready)
    if setups is None or not seat:
        return _per_checkout(place, wanted, ready)
    order = order_of(wanted.frozen, base_tree(wanted.frozen), choice.key, workspace, wanted.work_tree, wanted.log_path)
    made = shared_setup(setups, order, by_content=wanted.by_content)
    if isinstance(made, SetupFailed):
        return made
    ground = Ground(place.folder, place.tracked, seat)
    ready = ready.replace(left_out=made.paths, changed=made.changed, made_in=made.folder, size=made.bytes)
    ready = ready.replace(digest=made.digest)
    if private := wanted.private or wanted.build:
        private_copy = lay_writable(made, ground, private, overlays=not setups.no_overlays)
        if copied_bytes(made, private_copy, private):
            ready = ready.replace(setup=COPIED, why=say.no_overlays(setups.no_overlays), made_now=True)
        if wanted.private:
            return ready.replace(laid=private_copy)
        return ready.replace(laid=read_only(private_copy, made), laid_for_build=private_copy)
    laid = lay_read_only(made, ground)
    return ready.replace(laid=laid, laid_for_build=laid)


def _set_up_for_tree(place: Place, wanted: CheckoutSpec, ready: Checkout) -> Checkout | SetupFailed:
    """Run on the checkout's own tree, in the checkout; nothing of it is kept."""
    before = marks(place.folder)
    if failed := run_setup(place.folder, wanted.workspace, wanted.log_path, wanted.running, ready.laid):
        return failed
    after = marks(place.folder)
    if absent := _restore(place, wanted, place.tree):
        return absent
    created = created_paths(before, after, place.tracked)
    return ready.replace(
        left_out=created, changed=_changed(place.tracked, before, after), size=created_bytes(before, after)
    )


def _per_checkout(place: Place, wanted: CheckoutSpec, ready: Checkout) -> Checkout | SetupFailed:
    """Made from the baseline's tree, at this path, because what set-up makes may name its own path."""
    mark = sha256_of(f"{ready.key}\0{place.folder}".encode("utf-8", "surrogateescape"))
    kept = find(wanted.cache_dir, mark, wanted.vouched)
    made_now = kept is None
    if kept is None:
        base = base_tree(wanted.frozen)
        place.git.run("read-tree", "--reset", "-u", base)
        before = marks(place.folder)
        if failed := run_setup(place.folder, wanted.workspace, wanted.log_path, wanted.running):
            return failed
        after = marks(place.folder)
        tracked = tracked_at_first(wanted.frozen)
        paths = (*created_paths(before, after, tracked), *changed_files_of(before, after, tracked))
        kept = keep(wanted.cache_dir, mark, place.folder, paths, _changed(tracked, before, after))
        if failed := _restore(place, wanted, base):
            return failed
    lend(wanted.cache_dir, kept, place, is_built=bool(wanted.build))
    details = {"left_out": kept.paths, "changed": kept.changed, "size": kept.size, "digest": kept.digest}
    return ready.replace(setup=PER_CHECKOUT, why=NO_MOUNTS, made_now=made_now, **details)


def _changed(
    tracked: Collection[str], before: dict[str, tuple[int, ...]], after: dict[str, tuple[int, ...]]
) -> tuple[str, ...]:
    changed = changed_files_of(before, after, ())
    gone = [name for name in before if name not in after]
    return tuple(sorted(name for name in (*changed, *gone) if name in tracked))


def _restore(place: Place, wanted: CheckoutSpec, before: str) -> SetupFailed | None:
    """Set-up may have changed files of the tree; the proof is about the tree.

    It may also have written to the checkout's git folder, whose settings would run programs outside the sandbox, and
    whose index can call a changed file unchanged: git never runs there, but in a new folder.
    """
    wipe(os.path.join(place.folder, ".git"))
    again = make_checkout(place.folder, wanted.frozen, wanted.work_tree, over=before)
    return again if isinstance(again, SetupFailed) else None
