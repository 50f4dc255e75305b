"""Makes a Machine from a document (a parsed TOML or JSON mapping) and reports all its problems at once.

It refuses unknown keys everywhere: a misspelt guard must never become a missing guard.
"""

from __future__ import annotations

from detent.core.machine import (
    ACTORS,
    ANY_EXIT,
    ASKED,
    CRASHES,
    ENTRY,
    EXIT_CLASSES,
    RUNS,
    SAID,
    STOPPED,
    UNASKED,
    Edge,
    Forbidden,
    Gate,
    Limit,
    Lock,
    Machine,
    Property,
    Register,
    State,
    Vocabulary,
    Way,
)
from detent.errors import MachineError
from detent.machines.names import Names
from detent.machines.reading import GATES, IN_TREE, MADE_OF_GATES, Reader, Table, is_inner_path, is_of_kind, is_texts
from detent.store_spec import store_of
from detent.words.later import Later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from detent.store_spec import StoreSpec
    from detent.words.machines import parse as say
else:
    say = Later("detent.words.machines.parse")

FORMAT = 1
VIEWS = ("diagnosis",)  # what a state's menu may show without a move
ENGINE_PROGRAM = "detent"
_DEFAULT_LIMITS = {RUNS: 30, CRASHES: 2}
_SINCE = ("entry", "task")
_LONGEST_NAME_BYTES = 64


def parse(
    document: Mapping[str, Any],
    vocabulary: Vocabulary | None,
    *,
    limits: Mapping[str, int] | None = None,
    options: Sequence[str] = (),
    where: str = "",
) -> Machine:
    """The machine of a document; `limits` and `options` are the project's settings for it.

    Without a vocabulary the names of checks, effects and codecs are taken as they are: a pinned machine was checked
    when it was pinned, and a reader need not load the rooms above for it.
    """
    reader = Reader()
    machine = _Parser(Table(document, "", reader), vocabulary, dict(limits or {}), tuple(options)).machine()
    if reader.problems:
        raise MachineError(tuple(dict.fromkeys(reader.problems)), where=where)
    return machine


class _Parser(Names):
    def __init__(
        self, top: Table, vocabulary: Vocabulary | None, limits: dict[str, int], options: tuple[str, ...]
    ) -> None:
        super().__init__(top.reader.problem, vocabulary)
        self.top = top
        self.wanted_limits = limits
        self.options = options
        self.state_names = tuple(name for name, _ in top.tables("state", peek=True))
        self.default_by = top.texts("by", ("engine",))
        self.modes = top.texts("modes")

    def machine(self) -> Machine:
        top = self.top
        if top.number("format", 0) != FORMAT:
            self.problem(say.format_must_be(FORMAT))
        self.gates = {name: self.gate(name, table) for name, table in top.tables("gate")}
        self.limits = self.all_limits()
        self.roles = {name: self.role(table) for name, table in top.tables("role")}
        self.registers, self.fields = self.all_registers()
        kept, switched_off = self.all_edges()
        self.check_gate_names(kept + switched_off)
        crash = top.table("crash")
        if CRASHES in crash.texts("counts"):
            self.problem(say.counted_twice(CRASHES))
        self.counts_crash = self.known_all("crash", (CRASHES, *crash.texts("counts")), self.limits, "limit")
        states = {name: self.state(name, table, kept) for name, table in top.tables("state")}
        self.check_words(states, kept + switched_off)
        initial = top.text("initial")
        self.known("initial", initial, states, "state")
        override = top.table("override")
        name = top.text("name")
        if not name.replace("-", "").replace("_", "").isalnum():
            self.problem(say.name_letters())
        if self.vocabulary is not None and len(name.encode()) > _LONGEST_NAME_BYTES:
            self.problem(say.name_too_long(_LONGEST_NAME_BYTES))
        made = Machine(
            name=name,
            title=top.text("title", ""),
            initial=initial,
            states=states,
            gates=self.gates,
            limits=self.limits,
            registers=self.registers,
            locks=tuple(self.lock(table, self.fields) for table in top.rows("lock")),
            forbidden=tuple(self.forbidden(table) for table in top.rows("forbidden")),
            properties=tuple(self.property(table, kept) for table in top.rows("property")),
            exceptions={
                name: self.exception(name, table, kept + switched_off) for name, table in top.tables("exception")
            },
            switched_off=tuple(switched_off),
            modes=self.modes,
            may_override=self.known("override", override.text("by", ""), ("person",), "actor") == "person",
            store=self.store(top.table("store")),
            fields=self.fields,
            answers=self.answers(top.table("answers")),
            ask=self.asking(top.text("ask", "")),
            shims=self.shims(top.table("shim")),
            progress=self.progress(top.table("progress")),
        )
        for table in (crash, override):
            table.finish()
        top.finish()
        return made

    def gate(self, name: str, table: Table) -> Gate:
        check, since = table.text("check"), table.text("since", "entry")
        self.known(f"gate {name}", since, _SINCE, "since")
        if name in (ASKED, SAID):
            self.problem(say.gate_name_taken(name))
        fix = table.text("fix", "")
        params = table.raw_rest()
        self.check_params(name, check, params)
        if check in MADE_OF_GATES:
            of = params.get("of")
            if not is_texts(of):
                self.problem(say.gate_of_must_be(name, GATES))
                params["of"] = of = []
            self.known_all(f"gate {name}", tuple(of), self.top.peek_names("gate"), "gate")
        return Gate(name, check, params, since, fix)

    def role(self, table: Table) -> str:
        """The access of a role."""
        access = self.known(table.where, table.text("access"), ("read", "write"), "access")
        table.finish()
        return access

    def check_params(self, name: str, check: str, params: Mapping[str, Any]) -> None:
        if self.vocabulary is None or not check:
            return
        if check not in self.vocabulary.checks:
            self.problem(say.unknown_check(name, check, sorted(self.vocabulary.checks)))
            return
        required, optional = self.vocabulary.checks[check]
        for key in required:
            if key not in params:
                self.problem(say.check_needs(name, check, key))
        kinds = {**required, **optional}
        for key, value in params.items():
            if key not in kinds:
                self.problem(say.check_does_not_know(name, check, key))
            elif not is_of_kind(kinds[key], value):
                self.problem(say.parameter_must_be(name, key, kinds[key]))
            elif str(value).startswith(IN_TREE) and not is_inner_path(value.removeprefix(IN_TREE).removesuffix("/")):
                self.problem(say.parameter_outside_tree(name, key, value))

    def check_gate_names(self, edges: list[Edge]) -> None:
        """What gates name of the machine itself is there."""
        if self.vocabulary is not None:
            from detent.machines.gate_names import gate_problems  # a pinned machine was checked before

            names = {
                "state": self.state_names,
                "role": tuple(self.roles),
                "register": tuple(self.registers),
                "gate": tuple(self.gates),
                "move": tuple(edge.name for edge in edges),
                "sign-off": tuple(edge.name for edge in edges if edge.sign_off),
            }
            for problem in gate_problems(self.gates, self.vocabulary, names, self.registers, self.fields):
                self.problem(problem)

    def all_limits(self) -> dict[str, Limit]:
        found = {name: Limit(name, most, most) for name, most in _DEFAULT_LIMITS.items()}
        for name, table in self.top.tables("limit"):
            most = table.number("max", 0)
            if most < 1:
                self.problem(say.limit_max(name))
            cap = table.number("cap", most)
            if cap < most:
                self.problem(say.limit_cap(name))
            per = table.text("per", "")
            self.known(f"limit {name}", per, ("group",), "per")
            resets = table.text("resets", "")
            self.known(f"limit {name}", resets, ("always",), "resets")
            shown = (table.text("field", ""), table.number("first", 0))
            found[name] = Limit(name, most, cap, per == "group", resets == "always", *shown)
            table.finish()
        for name, most in self.wanted_limits.items():
            if name not in found:
                self.problem(say.no_limit(name, sorted(found)))
            elif most < 1:
                self.problem(say.limit_setting(name))
            else:
                found[name] = found[name].replace(most=most, cap=max(most, found[name].cap))
        return found

    def all_registers(self) -> tuple[dict[str, Register], dict[str, tuple[str, ...]]]:
        """Registers proper, and native fields; a field whose owner is the engine is a register as well."""
        registers: dict[str, Register] = {}
        fields: dict[str, tuple[str, ...]] = {}
        for name, table in self.top.tables("register"):
            registers[name] = Register(name, table.text("start", ""), table.texts("values"), table.text("field", ""))
            table.finish()
        if STOPPED in registers:
            self.problem(say.register_name_taken(STOPPED))
        for name, table in self.top.tables("field"):
            values, owner = table.texts("values"), table.text("owner", "agent")
            self.known(f"field {name}", owner, ("agent", "engine"), "owner")
            fields[name] = values
            if owner == "engine" and name in registers:
                self.problem(say.field_is_register(name))
            if owner == "engine":
                registers[name] = Register(name, table.text("start", ""), values, name)
            table.finish()
        for register in registers.values():
            if register.start and register.values and register.start not in register.values:
                self.problem(say.start_not_among(register.name, register.start))
        return registers, fields

    def all_edges(self) -> tuple[list[Edge], list[Edge]]:
        kept: list[Edge] = []
        switched_off: list[Edge] = []
        offered: set[str] = set()
        for kind in ("edge", "reopen"):
            for table in self.top.rows(kind):
                edges = self.edge(table, is_reopen=kind == "reopen")
                offered.update(edge.option for edge in edges if edge.option)
                for edge in edges:
                    (switched_off if edge.option and edge.option not in self.options else kept).append(edge)
        for name in self.options:
            if name not in offered:
                self.problem(say.no_option(name, sorted(offered)))
        return kept, switched_off

    def edge(self, table: Table, *, is_reopen: bool) -> list[Edge]:
        sources, target = table.texts("from"), table.text("to")
        where = f"{'/'.join(sources)} -> {target}"
        table.where = where
        self.known_all(where, sources, self.state_names, "state")
        if not sources:
            self.problem(say.from_missing(where))
        if is_reopen and target.startswith("{"):
            self.known(where, target.strip("{}"), self.registers, "register")
        else:
            self.known(where, target, self.state_names, "state")
        label = table.text("label", "")
        name = table.text("name", "")
        never, sign_off = table.text("never", ""), table.flag("sign_off")
        option = table.text("option", "")
        instead = table.table("instead").mapping_of_text()
        # An empty name stands for a register that remembers nothing, as in a task taken over from elsewhere.
        self.known_all(where, (*(name for name in instead if name), *instead.values()), self.state_names, "state")
        verbs, key, confirm = table.texts("verb"), table.text("key", ""), table.text("confirm", "")
        says = table.texts("says")
        ways = self.ways(table, where, is_reopen=is_reopen)
        table.finish()
        if sign_off and any(way.by != ("person",) for way in ways):
            self.problem(say.sign_off_by_person(where))
        return [
            Edge(
                name or f"{source}-to-{target}",
                label or name or f"{source}-to-{target}",
                source,
                target,
                ways,
                verbs,
                says,
                key,
                confirm,
                sign_off,
                never,
                option,
                is_reopen,
                instead,
            )
            for source in sources
        ]

    def ways(self, table: Table, where: str, *, is_reopen: bool) -> tuple[Way, ...]:
        """An edge without `ways` has one, written on the edge itself; a way inherits what it does not say."""
        default_by = ("person",) if is_reopen else self.default_by
        shared = self.way(0, table, where, Way(0, default_by))
        rows = table.rows("ways")
        if not rows:
            return (shared,)
        return tuple(self.way(number, row, f"{where} way {number}", shared) for number, row in enumerate(rows, 1))

    def way(self, number: int, table: Table, where: str, defaults: Way) -> Way:
        after = ANY_EXIT if table.peek("after") == "any" else table.texts("after", defaults.after)
        table.take("after")
        when = table.table("when").mapping_of_texts()
        way = Way(
            number,
            by=self.known_all(where, table.texts("by", defaults.by), ACTORS, "actor"),
            needs=self.known_all(where, table.texts("needs", defaults.needs), self.gates, "gate"),
            modes=self.known_all(where, table.texts("mode", defaults.modes), self.modes, "mode"),
            under=self.known(where, table.text("under", defaults.under), self.limits, "limit"),
            spent=self.known(where, table.text("spent", defaults.spent), self.limits, "limit"),
            when={**defaults.when, **when},
            after=self.known_all(where, after, (*EXIT_CLASSES, ENTRY), "exit class"),
            counts=self.known_all(where, table.texts("counts", defaults.counts), self.limits, "limit"),
            resets=self.known_all(where, table.texts("resets", defaults.resets), self.limits, "limit"),
            sets={**defaults.sets, **table.table("set").mapping_of_text()},
            prepare=self.words(where, table.texts("prepare", defaults.prepare), "prepares"),
            effects=self.words(where, table.texts("effects", defaults.effects), "effects"),
            after_no=self.after_no(where, table, defaults.after_no),
            given=table.flag("given") or defaults.given,
        )
        self.check_registers(where, way)
        if number:
            table.where = where
            table.finish()
        return way

    def after_no(self, where: str, table: Table, default: str) -> str:
        """Whether the engine may take a way after a run that said no: true, or only where the run asked for nothing."""
        value = table.take("after_no")
        if value is None:
            return default
        if value not in (True, False, UNASKED):
            self.problem(say.after_no_must_be(where, UNASKED))
        return value if isinstance(value, str) else "yes" if value else ""

    def check_registers(self, where: str, way: Way) -> None:
        self.known_all(where, (*way.when, *way.sets), self.registers, "register")
        wanted = [*way.when.items(), *((name, (value,)) for name, value in way.sets.items())]
        for name, values in wanted:
            allowed = self.registers[name].values if name in self.registers else ()
            for value in values:
                if value and value != "{from}" and allowed and value not in allowed:
                    self.problem(say.value_not_allowed(where, name, value, allowed))

    def state(self, name: str, table: Table, edges: list[Edge]) -> State:
        role, is_end = table.text("role", ""), table.flag("end")
        default = "" if is_end else "agent" if role else "person"
        driver = table.text("driver", default)
        if driver and (is_end or driver not in ("agent", "engine", "person")):
            self.problem(say.driver_impossible(name, driver))
        # A person's state may have an agent too: one that is called in, and never comes by itself.
        if (driver == "agent" and not role) or (role and driver not in ("agent", "person")):
            self.problem(say.role_misplaced(name))
        if is_end and table.peek("rest"):
            self.problem(say.end_at_rest(name))
        made = State(
            name,
            driver,
            self.known(f"state {name}", role, self.roles, "role"),
            self.known(
                f"state {name}", table.text("access", self.roles.get(role, "")), ("", "read", "write"), "access"
            ),
            group=table.text("group", ""),
            cross_cutting=table.flag("cross_cutting"),
            title=table.text("title", ""),
            may=table.texts("may"),
            must_not=table.texts("must_not"),
            prompt=self.prompt(name, table.text("prompt", "")),
            prompt_counted=self.prompts(name, table.table("prompt_counted")),
            respawn=self.known(f"state {name}", table.text("respawn", "ask"), ("ask", "auto"), "respawn"),
            counts_run=self.known_all(f"state {name}", table.texts("counts_run"), self.limits, "limit"),
            counts_crash=self.known_all(
                f"state {name}", table.texts("counts_crash", self.counts_crash), self.limits, "limit"
            ),
            must_open=table.flag("must_open"),
            views=self.views(name, table.table("views")),
            recommends=self.recommends(name, table.table("recommends")),
            judged_as=self.known(f"state {name}", table.text("judged_as", ""), self.state_names, "state"),
            is_end=is_end,
            is_rest=table.flag("rest"),
            words=table.texts("words"),
            lands=table.flag("lands"),
            files=self.filing(name, table.table("files"), has_role=bool(role)),
            asks=self.asks(name, table.texts("asks")),
            no=self.no(name, table.texts("no"), has_role=bool(role)),
            edges=tuple(edge for edge in edges if edge.source == name),
        )
        table.finish()
        return made

    def check_words(self, states: Mapping[str, State], edges: list[Edge]) -> None:
        if self.vocabulary is not None:
            from detent.machines.lines import word_problems  # a pinned machine was checked before

            for problem in word_problems(states.values(), edges):
                self.problem(problem)

    def filing(self, state: str, table: Table, *, has_role: bool) -> Mapping[str, str]:
        """What the engine files into the task folder when a run has ended: place -> source."""
        files = table.mapping_of_text()
        if files and self.vocabulary is not None:
            from detent.machines.filing import filing_problems  # a pinned machine was checked before

            store = self.top.table("store")
            store_files = [str(store.peek(key)) for key in ("file", "log", "evidence") if store.peek(key)]
            for problem in filing_problems(state, files, has_role=has_role, store_files=store_files):
                self.problem(problem)
        return files

    def views(self, state: str, table: Table) -> Mapping[str, str]:
        views = table.mapping_of_text()
        self.known_all(f"state {state}: views", tuple(views.values()), VIEWS, "view")
        return views

    def recommends(self, state: str, table: Table) -> Mapping[str, str]:
        """When a person is advised to something, and to what; the decision stays theirs."""
        if not table.content:
            return {}
        where = f"state {state}: recommends"
        advice = {"verb": table.text("verb"), "mode": table.text("mode", ""), "gate": table.text("gate")}
        self.known(where, advice["mode"], self.modes, "mode")
        self.known(where, advice["gate"], self.gates, "gate")
        table.finish()
        return advice

    def prompts(self, state: str, table: Table) -> Mapping[str, str]:
        counted = table.mapping_of_text()
        self.known_all(f"state {state}: prompt_counted", tuple(counted), self.limits, "limit")
        return {limit: self.prompt(state, text) for limit, text in counted.items()}

    def prompt(self, state: str, text: str) -> str:
        """The words of a state; a misspelt placeholder would be shown to an agent as it stands."""
        if self.vocabulary is not None:
            from detent.machines.placeholders import unknown  # a pinned machine was checked before

            for name in unknown(text, self.fields, self.limits, self.state_names):
                self.problem(say.prompt_unknown(state, name))
        return text

    def asking(self, line: str) -> str:
        if line and "{to}" not in line:
            self.problem(say.ask_needs_target())
        return line

    def shims(self, table: Table) -> Mapping[str, str]:
        """Programs that stand first in the PATH of a run, each a line of this tool under another name."""
        shims = table.mapping_of_text()
        for name, line in shims.items():
            if not name.replace("-", "").isalnum() or name == ENGINE_PROGRAM:
                self.problem(say.shim_letters(name, ENGINE_PROGRAM))
            if line.split()[:1] != [ENGINE_PROGRAM]:
                self.problem(say.shim_line(name, ENGINE_PROGRAM))
        return shims

    def asks(self, state: str, names: tuple[str, ...]) -> tuple[str, ...]:
        """What a state asks a person: fields of the native file, and sections of it, which are written `## Heading`."""
        self.known_all(
            f"state {state}", tuple(name for name in names if not name.startswith("## ")), self.fields, "field"
        )
        return names

    def no(self, state: str, gates: tuple[str, ...], *, has_role: bool) -> tuple[str, ...]:
        """Gates by which a run of this state says no."""
        if gates and not has_role:
            self.problem(say.no_without_agent(state))
        return self.known_all(f"state {state}: no", gates, self.gates, "gate")

    def lock(self, table: Table, fields: Mapping[str, Any]) -> Lock:
        name = table.text("name")
        where = f"lock {name}"
        lock = Lock(
            name,
            self.known_all(where, table.texts("after"), self.state_names, "state"),
            self.known_all(where, table.texts("open_in"), self.state_names, "state"),
            self.known_all(where, table.texts("fields"), fields, "field"),
            tuple(self.section(row) for row in table.rows("sections")),
            table.texts("files"),
            self.known_all(where, table.texts("role"), self.roles, "role"),
        )
        if bool(lock.after) == bool(lock.role):
            self.problem(say.lock_after_and_role(name) if lock.after else say.lock_without_after(name))
        if not lock.fields and not lock.sections and not lock.files:
            self.problem(say.lock_holds_nothing(name))
        state_file = self.top.table("store").peek("file")
        has_tree = self.top.table("store").peek("in_place")  # a clone may be made after something was locked
        inner = [file.removeprefix(IN_TREE) if has_tree else file for file in lock.files]
        for file in (*inner, *(file for file, _ in lock.sections)):
            if not is_inner_path(file.removesuffix("/")) or file.startswith(IN_TREE):
                self.problem(say.lock_path(name, file))
        if state_file in lock.files:
            self.problem(say.lock_holds_state(name, state_file))
        table.finish()
        return lock

    def section(self, table: Table) -> tuple[str, str]:
        pair = (table.text("file"), table.text("section"))
        table.finish()
        return pair

    def forbidden(self, table: Table) -> Forbidden:
        pair = Forbidden(table.text("from"), table.text("to"), table.text("why"))
        self.known_all("forbidden", (pair.source, pair.target), self.state_names, "state")
        table.finish()
        return pair

    def property(self, table: Table, edges: list[Edge]) -> Property:
        name = table.text("name")
        names = tuple(edge.name for edge in edges)
        if not (first := table.texts("first")):
            self.problem(say.property_first(name))
        made = Property(
            name,
            self.known(f"property {name}", table.text("then"), names, "edge"),
            self.known_all(f"property {name}", first, names, "edge"),
            self.known_all(f"property {name}", table.texts("since"), self.state_names, "state"),
            table.flag("tree"),
        )
        table.finish()
        return made

    def exception(self, kind: str, table: Table, edges: list[Edge]) -> Mapping[str, str]:
        """Moves and states about which a finding of one kind is meant, each with its reason."""
        reasons = {name: table.text(name) for name in table.content}
        self.known_all(f"exception {kind}", tuple(reasons), (*self.state_names, *(edge.name for edge in edges)), "move")
        if self.vocabulary is not None:
            from detent.machines.findings import EXCEPTIONS  # a pinned machine was checked before

            self.known("exception", kind, EXCEPTIONS, "kind of finding")
        return reasons

    def store(self, table: Table) -> StoreSpec:
        if self.vocabulary is not None:
            from detent.machines.parse_store import Known, StoreParser  # a pinned machine was checked before

            rows = self.top.content.get("lock")
            named = rows if isinstance(rows, list) else ()
            locks = tuple(str(row.get("name", "")) for row in named if isinstance(row, dict))
            known = Known(self.state_names, tuple(self.roles), tuple(self.limits), locks)
            StoreParser(self.problem, self.vocabulary, known).check(table)
        table.taken.clear()
        return store_of(table.raw_rest())

    def answers(self, table: Table) -> Mapping[str, Any]:
        """Where a person's words are written besides the journal, and the fields whose question they answer."""
        if not table.content:
            return {}
        clears = self.known_all("answers", table.texts("clears"), self.fields, "field")
        answers = {"section": table.text("section"), **({"clears": clears} if clears else {})}
        table.finish()
        return answers

    def progress(self, table: Table) -> Mapping[str, Any]:
        counts, idle_max = table.texts("counts"), table.number("idle_max", 1)
        same_max = table.number("same_max", 0)  # the same refusal so many times in one visit stops the task
        self.known_all("progress", counts, ("tree", "fields", "evidence", "files", "gates"), "kind of progress")
        table.finish()
        return {"counts": counts, "idle_max": idle_max, **({"same_max": same_max} if same_max else {})}
