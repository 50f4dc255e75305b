"""Whatever is made of a text, a locked section comes back in it, and stays where it is already whole."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from detent.store.text.locked_sections import is_whole, put_section, section_text
from detent.store.text.markdown import sections_named

EXAMPLES = settings(max_examples=max(400, settings().max_examples))
LINES = st.sampled_from(
    [
        *(
            "## Context",
            "## context:",
            "### Context",
            "# Context",
            "Context",
            "---",
            "## Handoff",
            "# Title",
            "### More",
        ),
        *(
            "",
            "",
            "text",
            "- item",
            "  deeper",
            "    code",
            "> quote",
            "```",
            "````",
            "~~~",
            "<!--",
            "-->",
            "<!-- c -->",
        ),
        *("<script>", "</script>", "<div>", "<?", "?>", "<![CDATA[", "]]>", "<!X", ">", "[a]: b", "1. one", "\t", "é"),
    ]
)
TEXTS = st.builds(
    lambda lines, newline, ended: newline.join(lines) + (newline if ended else ""),
    st.lists(LINES, max_size=12),
    st.sampled_from(["\n", "\n", "\r\n"]),
    st.booleans(),
)
LOCKED = st.sampled_from(
    [
        *("", "## Context", "## Context\n\nwhy\n\n### More\n\n- x", "## Context\n```\n## no\n```", "## context:\nx"),
        *("## Context\n\nold\n\n## Context\nnew", "## Context\na\n\n## context\n\n## Context\n- c"),
    ]
)


@given(TEXTS, LOCKED)
@example("<!--\n## Context\n", "## Context\n\nwhy")
@example("```\n## Context\n", "## Context\n\nwhy")
@example("- item\n\n  <!--\n", "## Context\n\nwhy")
@EXAMPLES
def test_a_locked_section_comes_back_into_any_text(text: str, locked: str) -> None:
    back = put_section(text, "Context", locked)
    assert is_whole(back, "Context", locked)
    assert section_text(back, "Context").startswith(locked)
    assert put_section(back, "Context", locked) == back


def others(text: str) -> list[str]:
    """The lines that belong to no section of the locked name, empty ones apart."""
    for section in reversed(sections_named(text, "Context")):
        text = text[: section.start] + text[section.end :]
    return [line for line in text.splitlines() if line.strip()]


@given(TEXTS, LOCKED)
@EXAMPLES
def test_no_other_line_changes(text: str, locked: str) -> None:
    before, after = others(text), others(put_section(text, "Context", locked))
    assert after[: len(before)] == before
    assert len(after) <= len(before) + 1, "at most one line is added, which ends what was never closed"
