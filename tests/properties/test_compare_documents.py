"""Whatever a document holds, `machine compare` reads a relation or says why it can't: nothing else comes out."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from detent.errors import UnreadableError
from detent.machines.load import load
from detent.verify.compare import compare
from detent.verify.documents.document import read_document

MACHINE, _ = load("orange", None)

PIECES = [
    *(
        "```",
        "```mermaid\n",
        "```text\n",
        "stateDiagram-v2\n",
        "stateDiagram\n",
        "[*] --> pending: new\n",
        "\n",
        " ",
        "%% x\n",
    ),
    *(
        "pending --> working : start\n",
        "working --> [*]\n",
        'state "agent-review" as r {\n',
        "}\n",
        "note right of x\n",
    ),
    *(
        "| From | To | By | Gate |\n",
        "|---|---|---|---|\n",
        "| Any | cancelled | human | `x` |\n",
        "| a | b |\n",
        "|||\n",
    ),
    *("pending -> working | stuck\n", "working → done, stuck\n", "done -> (terminal)\n", "| Transition |\n|---|\n"),
    *(
        "---- MODULE M ----\n",
        "VARIABLE s\n",
        'Init == s = "pending"\n',
        "====\n",
        "(* a",
        " AC-*), b",
        " *)\n",
        "\\* x\n",
    ),
    *(
        'Go == s = "pending" /\\ s\' = "working"\n',
        'On ==\n/\\ s \\in {"a", "b"}\n/\\ s\' = "done"\n',
        "Next == Go \\/ On\n",
    ),
    *("Next == Next\n", "Stay == UNCHANGED s\n", "{", "}", '"', "[]", "\ufeff", "\r\n", "é", "\\"),
]
documents = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=8)), max_size=24).map("".join)


@given(text=documents)
def test_any_document_is_read_or_refused_in_words(text: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "document.md"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        try:
            relation = read_document(str(path), MACHINE)
        except UnreadableError:
            return
    compare(MACHINE, relation)
    assert relation.source
    assert set(relation.states) >= {name for row in relation.rows for name in (row.source, row.target)}
