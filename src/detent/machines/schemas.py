"""Finds the JSON schemas that lie beside machine files, of the package or of a pack from elsewhere."""

from __future__ import annotations

import os

from detent.machines.brought import BROUGHT, MARK, built_in_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.core.machine import Machine

SCHEMAS = "schemas/"


def _schema_path(name: str) -> str:
    """Where the JSON schema `MACHINE/NAME` lies that ships with the package; it may not be there."""
    machine, _, file = name.partition(MARK)
    return os.path.join(built_in_folder(machine), "schemas", f"{file}.json")


def schema_names(machine: Machine) -> tuple[str, ...]:
    """The schemas of a machine's artifacts: those its gates ask by, and those that lie beside it."""
    named = {str(value) for gate in machine.gates.values() for key, value in gate.params.items() if "schema" in key}
    folder = os.path.dirname(_schema_path(f"{machine.name}/x"))
    beside = os.listdir(folder) if os.path.isdir(folder) else ()
    if pack := BROUGHT.get(machine.name):
        beside = [path.removeprefix(SCHEMAS) for path in pack.files if path.startswith(SCHEMAS)]
    return tuple(sorted(named | {f"{machine.name}/{name.removesuffix('.json')}" for name in beside}))


def has_schema(name: str) -> bool:
    """Whether there is a schema `MACHINE/NAME`."""
    machine, _, file = name.partition(MARK)
    if pack := BROUGHT.get(machine):
        return f"{SCHEMAS}{file}.json" in pack.files
    return os.path.isfile(_schema_path(name))


def schema_text(name: str) -> str:
    machine, _, file = name.partition(MARK)
    if pack := BROUGHT.get(machine):
        return pack.text(f"{SCHEMAS}{file}.json")
    with open(_schema_path(name), encoding="utf-8") as opened:
        return opened.read()
