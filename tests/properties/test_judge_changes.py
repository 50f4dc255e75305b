"""Whatever a test file holds: the order of its tests is no change, and only the same text is called moved."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from detent.effects.tests.judge_change import compare_judges
from detent.effects.tests.judge_files import Judge
from detent.effects.tests.runners import load_runners
from detent.effects.tests.tree_files import TreeFiles

RUNNERS = load_runners({})
NAMES = ("pytest", "jest", "go test", "cargo test")
JUDGE = Judge(tuple(RUNNERS.by_name[name] for name in NAMES), frozenset(), frozenset(), through_tox=False)
# How a test of each language is written; the name and the number it expects are filled in.
WRITTEN = {
    "test_a.py": ("", "def test_{0}():\n    assert f() == {1}\n", "test_{0}"),
    "a.test.js": ("", "test('{0}', () => {{ expect(f()).toBe({1}); }});\n", "{0}"),
    "a_test.go": ("package p\n", "func Test_{0}(t *testing.T) {{ check(t, f(), {1}) }}\n", "Test_{0}"),
    "tests/it.rs": ("", "#[test]\nfn {0}() {{ assert_eq!(f(), {1}); }}\n", "{0}"),
}
FILE = st.sampled_from(sorted(WRITTEN))
TESTS = st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 3), min_size=1, max_size=6)


def tree(file: str, tests: dict[str, int], order: list[str]) -> TreeFiles:
    head, text, _name = WRITTEN[file]
    content = (head + "".join(text.format(name, tests[name]) for name in order)).encode()
    return TreeFiles({file: str(hash(content))}, lambda _path: content)


@given(FILE, TESTS, st.data())
def test_the_order_of_tests_is_no_change(file: str, tests: dict[str, int], data: st.DataObject) -> None:
    order = data.draw(st.permutations(sorted(tests)))
    found = compare_judges(tree(file, tests, sorted(tests)), tree(file, tests, order), JUDGE)
    assert (found.parts, found.same_text) == ((), {})


@given(FILE, TESTS, TESTS)
def test_every_test_is_kept_moved_or_changed(file: str, old: dict[str, int], new: dict[str, int]) -> None:
    found = compare_judges(tree(file, old, sorted(old)), tree(file, new, sorted(new)), JUDGE)
    name = WRITTEN[file][2]
    kept = {(file, name.format(test)) for test in old if new.get(test) == old[test]}
    moved, changed = set(found.same_text), set(found.changed_tests)
    assert kept | moved | changed == {(file, name.format(test)) for test in old}
    assert not kept & moved
    assert not (kept | moved) & changed
    by_name = {name.format(test): test for test in (*old, *new)}
    for (_file, was), (_same, now) in found.same_text.items():
        assert old[by_name[was]] == new[by_name[now]]
