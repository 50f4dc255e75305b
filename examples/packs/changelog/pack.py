"""What the machine `changelog` brings along, declared once."""

from detent.gates.registry import TREE, Check
from detent.machines.reading import TEXT
from detent.runner.step.registry import Effect, Step

HERE = "detent.packs.changelog"

CHECKS = (Check("noted", f"{HERE}.entries:noted", {"heading": TEXT}, needs=(TREE,), judges=True),)
EFFECTS = (Effect("announce", "write ANNOUNCE.md with the new entries", f"{HERE}.announce:announce"),)
STEPS = (
    Step(
        "count_entries",
        "count the entries; refused while a merge left its marks in the file",
        look=f"{HERE}.announce:look_entries",
        act=f"{HERE}.announce:note_entries",
    ),
)
