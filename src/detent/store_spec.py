"""What `[store]` of a machine file may say: each key once, with type, default and its sentence in the reference.

The core hands it on unread; the rooms above ask it by attributes. `machines/parse_store.py` checks it when a machine is
loaded, a pinned one was checked before.
"""

from __future__ import annotations

from detent.view import View, content_of, view_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


class Event(View):
    """How the native log tells one kind of journal line."""

    type: str
    kind: str
    when: Mapping[str, str | Sequence[str]] = {}
    fields: Mapping[str, str] = {}


class Version(View):
    field: str
    is_: int


class Resolving(View):
    """The role that carries out a person's decision about a block, and how."""

    limit: str
    role: str
    opens: Sequence[str] = ()
    prompt: str | None = None
    may: Sequence[str] | None = None
    must_not: Sequence[str] | None = None


class Harness(View):
    instructions: str
    prompts: str
    agents: str
    protocol: str = ""
    commands: Mapping[str, str] = {}
    specialists: Mapping[str, str] = {}
    scaffold: Sequence[str] = ()
    project_agents: str = ""
    project_agents_in: Sequence[str] = ()


class Tells(View):
    field: str
    first: str | None = None

    def words(self, rest: str) -> Mapping[str, str]:
        """The words of each field for one way to rest."""
        found: Mapping[str, str] = content_of(self).get(rest, {})
        return found


NO_VERSION, NO_HARNESS, NO_TELLS = view_of(Version, {}), view_of(Harness, {}), view_of(Tells, {})


class StoreSpec(View):
    """A task's own files, and what the engine does about them."""

    codec: str
    """how the native file is written: markdown_fields (lines like `Label: value`), frontmatter (a YAML head),
    json_document (values named by pointers such as `/phase/type`)"""
    file: str
    """the native file"""
    state: str
    """the label of its state line"""
    updated: str = ""
    """the label that shows when the state last changed"""
    log: str = ""
    """the native log"""
    log_form: str = "json_lines"
    """how it is written: json_lines (the default), or markdown: a heading for each event, its fields below"""
    events: Sequence[Event] | None = None
    """list of tables with `type`, `kind`, `when` and `fields`: the native log in its own words. Each makes a line of
    every journal line of its kind whose values are as `when` says; `{after.state}` in a field is the value at that
    path, `{limits.NAME}` how far a limit goes, `{because}` which gate failed and why. Without it the log tells every
    journal line"""
    archive: Mapping[str, Sequence[str]] = {}
    """table: the artifacts of each state, files or folders with `/`, the states in order. The effect of this name puts
    them away under `versions/STATE-ROUND/`"""
    record: str = ""
    """the file that says why the work was taken back, by the effect `revert_record`"""
    rounds: str = ""
    """where the native file shows how often each state was entered, with `{state}` in it"""
    status: str = ""
    """where it shows `pending` for the state the task is in, and for one that was left the label of the move, with
    `{state}` in it; written with each move, and left alone in between"""
    only_in: Mapping[str, Sequence[str]] = {}
    """table: fields that stand there in these states only; what holds nothing else goes with them"""
    version: Version = NO_VERSION
    """table with `field` and `is`: the version of the file's format; an older file is brought up, with a copy kept
    beside it, a newer one refused"""
    fsync: bool = False
    """true: the native file itself is synced, by way of a temporary called `FILE.<random>.tmp`"""
    files: Sequence[str]
    """files of a new folder, from the machine's scaffold"""
    folders: Sequence[str] = ()
    """folders of a new folder"""
    extra: Mapping[str, str] = {}
    """files made on request, by name"""
    title: str = ""
    """the field that takes the words given to `detent new`"""
    retitles: bool = False
    """whether the task is called by what a person writes into that field while no lock holds it"""
    checks: str = ""
    """the field that takes its `--check` commands"""
    evidence: str = ""
    """where the evidence page lies"""
    link: str = ""
    """the field that is led to that page whenever it is made"""
    branch: str = ""
    """the field that names the task's branch"""
    report: str = ""
    """the file of the native folder with the report of a block; an agent's own counts if it has the form"""
    report_field: str = ""
    """the field that shows it while the task is blocked"""
    post_mortem: str = ""
    """the file in which an agent says why a gate keeps failing: What went wrong, What to try differently, What to
    avoid"""
    reads: Mapping[str, str] = {}
    """table: the file of the native folder that a person reads before they decide in a state"""
    options: Mapping[str, Sequence[str]] = {}
    """table: the options a report offers in a state, the recommended one first"""
    message: str = ""
    """the file of the native folder that holds the message of the person's commit"""
    root: str = ""
    """a folder of the project that holds all tasks of this machine; git is told to pass over it"""
    folder: str = "{id}"
    """the native folder of one task in it, with `{id}`"""
    writes: Mapping[str, Sequence[str]] = {}
    """table: the folders of the tree a role may write to; a role it does not name may write all of it, if any"""
    adds: Mapping[str, Sequence[str]] = {}
    """table: the only files, by pattern, that a role may add or change in the folders that `writes` gives it; whatever
    else it changes there is restored, and its run counts for nothing"""
    resolves: Mapping[str, Resolving] = {}
    """table by state: who carries out a person's answer to a block of it, before the state's own role looks again.
    `limit` is what such blocks count towards; once something was counted, `role` works first, with `may`, `must_not`
    and `prompt` of its own; `opens` names locks that are open for that role alone"""
    harness: Harness = NO_HARNESS
    """table: files by which an editor's agent follows the machine. `instructions`, `prompts` and `agents` are paths
    (the last two with `{name}`), `commands` and `specialists` name a state each, `protocol` is what every agent keeps
    to and is told in every prompt, `scaffold` lists files of the scaffold that belong to the tree; `project_agents` is
    where agents describe roles of the project, and the prompts of `project_agents_in` name them"""
    tells: Tells = NO_TELLS
    """table: how the native file says that a task rests. `field` is the field that says it, `first` what a new task has
    there; then a table for each end, `stopped`, `waiting` (for an answer) and `goes_on`, with the words of that field,
    and of others that are filled where they are blank. `{why}`, `{id}` and `{FIELD}` are filled in"""
    adopted: Mapping[str, Mapping[str, str]] = {}
    """table: registers a folder taken over in a state is taken to have, on the word of who takes it over"""
    tracked: bool = False
    """true: `root` is itself the native folder of the one task there may be, and part of the work; only `file`, `log`
    and the pointer are left out of tree ids, and git is told to pass over the first and the last"""
    in_place: bool = False
    """true: tasks always work in the checkout itself"""
    active: str = ""
    """a file in `root` with the id of the task that was chosen last"""
    shows: Mapping[str, str] = {}
    """table: a place in the native file, and what it shows: see below"""
    runs: str = ""
    """a folder in `root`: one folder per agent run of any task, with `run.json` and `output.log`"""
    conversation: str = ""
    """a file in `root`, with `{id}`: what people and agents said, one JSON line each"""
    talks_in: Sequence[str] = ()
    """the states whose words belong to the conversation"""
    recovers_in: Sequence[str] = ()
    """the states in which context is recovered: the prompt of the run after one of them tells the last commits, the
    post-mortems of the log, what to read first and how the commands stand"""
    briefing: Sequence[str] = ()
    """files of the native folder such a run reads first"""
    draft: str = ""
    """the file of the native folder that `file_spec` files"""
    revision: str = ""
    """where it is filed, with `{n}` for the number"""
    final: Sequence[str] = ()
    """states in which nothing is brought back any more (`detent restore` is refused)"""


NO_STORE = view_of(StoreSpec, {})
_PARTS = {"version": Version, "harness": Harness, "tells": Tells}


def store_of(content: dict[str, Any]) -> StoreSpec:
    """What a parsed `[store]` says; what has another shape stays as it is, for the parser to complain about."""
    said = {**content}
    for key, kind in _PARTS.items():
        if isinstance(said.get(key), dict):
            said[key] = view_of(kind, said[key])
    if isinstance(rows := said.get("resolves"), dict):
        said["resolves"] = {state: _view(Resolving, row) for state, row in rows.items()}
    if isinstance(rows := said.get("events"), list):
        said["events"] = [_view(Event, row) for row in rows]
    return view_of(StoreSpec, said)


def _view(kind: type[View], row: Any) -> Any:
    return view_of(kind, row) if isinstance(row, dict) else row


def keys_of(store: StoreSpec) -> frozenset[str]:
    """The keys to which a machine's file gives a value; what it says no more than the default of is not told apart."""
    return frozenset(key for key, value in content_of(store).items() if value)
