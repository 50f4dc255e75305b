"""The check `brake`: whether a build has outgrown its design, so that a person should look before it goes on.

It is no failure of a gate. What stands under the design's complexity exceptions was decided before and does not count.
"""

from __future__ import annotations

import re

from detent.gates.seen import Finding
from detent.packs.lights_out.checks.design import STRUCTURE, exempt_paths, planned_paths, without_top
from detent.packs.lights_out.checks.documents import entries, labelled
from detent.packs.lights_out.checks.manifests import FOREIGN, is_named, manifests
from detent.packs.lights_out.words import build as say
from detent.store.text.markdown import find_section
from detent.words.gates import together
from detent.words.proof import tree_not_scanned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from detent.core.machine import Gate
    from detent.gates.seen import Seen
    from detent.store.journal.observed import TreeFile

_MOST_TIMES, _MOST_LINES, _MOST_APPROACHES = 2, 300, 2
APPROACHES = "Approaches"
# Text that people write as code; a file without a suffix may be a program too.
_SOURCE = re.compile(
    r"(?:[^.]*|.*\.(?:py|pyi|js|jsx|mjs|cjs|ts|tsx|vue|svelte|rs|go|java|kt|kts|scala|c|h|cc|cpp|hpp|cs|fs|rb|php|pl|lua|"
    r"swift|m|mm|r|jl|ex|exs|erl|hs|ml|clj|dart|sh|bash|zsh|ps1|sql|html|htm|css|scss|sass|less|tf|zig|nim))",
    re.IGNORECASE,
)
_LOCK = re.compile(r".*[.-]lock(?:\.\w+)?|go\.sum|npm-shrinkwrap\.json")


def brake(gate: Gate, seen: Seen) -> Finding:
    """Twice the files of the design, a source file over 300 lines, a third approach, or an unplanned dependency."""
    issues = _issues(gate, seen)
    if issues is None:
        return Finding(ok=False, why=tree_not_scanned(), is_known=False)
    if issues:
        return Finding(ok=True, note=together(issues), proof=seen.tree, by_engine=True)
    return Finding(ok=False, why=say.within_design(), proof=seen.tree)


def within_design(gate: Gate, seen: Seen) -> Finding:
    """The opposite of `brake`: nothing has outgrown the design; asked of what was changed after a build."""
    issues = _issues(gate, seen)
    if issues is None:
        return Finding(ok=False, why=tree_not_scanned(), is_known=False)
    return Finding(ok=not issues, why=together(issues), proof=seen.tree, by_engine=True)


def _issues(gate: Gate, seen: Seen) -> list[str] | None:
    """Every way in which a build has outgrown its design; None when the tree was not scanned."""
    files, found, changed = seen.tree_files(), manifests(seen), seen.changed()
    if files is None or found is None or changed is None:
        return None
    design = seen.files.text(gate.params["design"]) or ""
    besides = (*gate.params.get("besides", ()), *exempt_paths(design))
    # What was there before the build, and the design does not draw, is not the build's.
    planned = without_top(planned, files) if (planned := planned_paths(design)) else ()
    built = {*changed, *planned}
    ours = {path: file for path, file in files.items() if path in built and not _is_besides(path, besides)}
    issues = [*_too_many(planned, ours), *_too_long(ours), *_approaches(gate, seen)]
    unplanned = [name for manifest in found if manifest.path in ours for name in manifest.names]
    unplanned = [name for name in dict.fromkeys(unplanned) if not is_named(name, design)]
    if unplanned:
        issues.append(say.unplanned_dependency(unplanned, gate.params["design"]))
    return issues


def is_source(path: str) -> bool:
    """Whether people write a file as code, and it is not a copy of foreign code."""
    *folders, name = path.split("/")
    return _SOURCE.fullmatch(name) is not None and not FOREIGN & set(folders)


def _is_besides(path: str, besides: tuple[str, ...]) -> bool:
    name = path.rpartition("/")[2]
    is_foreign = bool(FOREIGN & set(path.split("/")[:-1])) or _LOCK.fullmatch(name) is not None
    return is_foreign or any(path == place or path.startswith(place.rstrip("/") + "/") for place in besides)


def _too_many(planned: Sequence[str], files: Mapping[str, TreeFile]) -> list[str]:
    count = len([path for path in planned if not path.endswith("/")])
    ours = [path for path in files if not path.startswith(".")]
    if not count or len(ours) <= _MOST_TIMES * count:
        return []
    return [say.too_many_files(len(ours), STRUCTURE, count, _MOST_TIMES)]


def _too_long(files: Mapping[str, TreeFile]) -> list[str]:
    long = [
        path for path, file in files.items() if file.lines > _MOST_LINES and _SOURCE.fullmatch(path.rpartition("/")[2])
    ]
    return [say.too_long(_MOST_LINES, [(path, files[path].lines) for path in long])] if long else []


def _approaches(gate: Gate, seen: Seen) -> list[str]:
    """Problems for which the builder noted a third approach."""
    text = (seen.files.text(gate.params["approaches"]) if "approaches" in gate.params else None) or ""
    section = find_section(text, APPROACHES)
    if section is None:
        return []
    tried: dict[str, set[str]] = {}
    for entry in entries(text[section.body_start : section.end]):
        said = labelled(entry.text, ("problem", "approach"))
        if len(said) == 2:
            tried.setdefault(_without_marks(said["problem"]), set()).add(_without_marks(said["approach"]))
    many = [(problem, len(ways)) for problem, ways in tried.items() if len(ways) > _MOST_APPROACHES]
    return [say.third_approach(many)] if many else []


def _without_marks(text: str) -> str:
    return " ".join(text.strip("*_` .").casefold().split())
