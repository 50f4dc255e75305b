"""Run in place of `go` and `cargo`, and before each test binary of cargo: the same command, and a report beside it.

    wrap.py go ARGS...             adds -json (and -count=1) to `go test` alone, and prints what `go test` would print
    wrap.py cargo ARGS...          gives `cargo test` a runner of test binaries, where the project's own can be kept
    wrap.py cargo-binary BIN ...   asks libtest for its log file; any other program runs as it is

Every other command is run unchanged. The program itself is the first of that name on PATH outside this wrapper's
folder, which DETENT_WRAPPERS names.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib

FOLDER, REPORTS = "DETENT_WRAPPERS", "DETENT_REPORTS"
LONGEST_WHY = 300
MOST_FILES = 20_000
LIBTEST_SAYS = b"Write logs to the specified file"  # in every test binary that knows --logfile
_END = re.compile(r"^(ok|failed|ignored)\b.*?(\S+)$")
_FAILED_PACKAGE = re.compile(r"^FAIL\s+(\S+) \[(build|setup) failed\]")
_SELECTED = {"go": ("test",), "cargo": ("test", "t")}
_NO_RUN = ("-c", "-n", "-list", "--list", "-fuzz", "-h", "-help", "--help", "--no-run", "-V", "--version")


def main(words: list[str]) -> int:
    tool, rest = words[0], words[1:]
    if tool == "cargo-binary":
        return run_binary(rest)
    program = real_program(tool)
    if not program:
        print(f"{tool}: command not found", file=sys.stderr)
        return 127
    if not os.environ.get(REPORTS) or not tests_something(tool, rest):
        os.execv(program, [tool, *rest])
    return run_go(program, rest) if tool == "go" else run_cargo(program, rest)


def real_program(tool: str) -> str:
    ours = os.path.realpath(os.environ.get(FOLDER, ""))
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        path = os.path.join(folder or ".", tool)
        if os.path.realpath(folder or ".") != ours and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return ""


def tests_something(tool: str, words: list[str]) -> bool:
    named = [word for word in words if not word.startswith(("+", "-"))]
    before = words[: words.index("--")] if "--" in words else words
    stops = [word.split("=")[0] for word in before]
    return bool(named) and named[0] in _SELECTED[tool] and not any(word in _NO_RUN for word in stops)


class Report:
    def __init__(self, runner: str) -> None:
        name = f"{runner}-{os.getpid()}-{os.urandom(6).hex()}.jsonl"
        self.path = os.path.join(os.environ[REPORTS], name)
        self._file = open(self.path, "x", encoding="utf-8")  # noqa: SIM115  # as long as the process
        self._write({"detent": 1, "runner": runner})

    def _write(self, line: dict[str, object]) -> None:
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()

    def case(self, place: tuple[str, str, str], outcome: str, stage: str = "", why: str = "") -> None:
        file, name, parameters = place
        said = {"outcome": outcome, "stage": stage, "why": why[:LONGEST_WHY]}
        self._write({"file": file, "name": name, "parameters": parameters, **said})

    def end(self, code: int) -> None:
        self._write({"end": code})


# ---- go --------------------------------------------------------------------------------------------------------------


class GoOutput:
    """The events of `go test -json`: the text that the same command prints without it, and how each test ended."""

    def __init__(self, *, is_json: bool, is_verbose: bool) -> None:
        self.is_json, self.is_verbose = is_json, is_verbose
        self.ends: dict[tuple[str, str], str] = {}
        self.said: dict[tuple[str, str], list[str]] = {}
        self.unbuilt: dict[str, str] = {}

    def take(self, line: str) -> None:
        try:
            event = json.loads(line)
        except ValueError:
            event = None
        if not isinstance(event, dict) or "Action" not in event:
            if found := _FAILED_PACKAGE.match(line):
                self.unbuilt[found[1]] = line.strip()
            sys.stdout.write(line)
            return
        if self.is_json:
            sys.stdout.write(line)
        key, action = (str(event.get("Package", "")), str(event.get("Test", ""))), event["Action"]
        if action in ("output", "build-output"):
            self._output(key, str(event.get("Output", "")))
        elif action in ("pass", "fail", "skip") and key[1]:
            self.ends[key] = action
            if not self.is_verbose and not self.is_json and action == "fail" and "/" not in key[1]:
                of_this = [name for name in self.said if name[0] == key[0] and name[1].split("/")[0] == key[1]]
                sys.stdout.write("".join(text for name in of_this for text in self.said[name] if text[:4] != "=== "))

    def _output(self, key: tuple[str, str], text: str) -> None:
        if found := _FAILED_PACKAGE.match(text):
            self.unbuilt[found[1]] = text.strip()
        if key[1]:
            self.said.setdefault(key, []).append(text)
        is_shown = self.is_verbose or (not key[1] and text != "PASS\n")
        if is_shown and not self.is_json:
            sys.stdout.write(text)


def run_go(program: str, words: list[str]) -> int:
    at = words.index("test") + 1
    flags = [word.lstrip("-").split("=")[0] for word in words[at:] if word.startswith("-")]
    flags_of_environment = [flag.lstrip("-").split("=")[0] for flag in os.environ.get("GOFLAGS", "").split()]
    # -C must stay the first flag there is.
    at += 2 if words[at : at + 1] == ["-C"] else 1 if words[at : at + 1] and words[at].startswith("-C=") else 0
    added = [] if "json" in flags else ["-json"]
    added += [] if "count" in (*flags, *flags_of_environment) or "bench" in flags else ["-count=1"]
    report = Report("go")
    output = GoOutput(
        is_json="json" in (*flags, *flags_of_environment), is_verbose="v" in flags or "v" in flags_of_environment
    )
    environment = {name: value for name, value in os.environ.items() if name != REPORTS}
    command = [program, *words[:at], *added, *words[at:]]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, encoding="utf-8", errors="replace") as go:
        for line in go.stdout or ():
            output.take(line)
            sys.stdout.flush()
    tell_go(report, output, program, environment, words)
    report.end(go.returncode)
    return go.returncode if go.returncode >= 0 else 128 - go.returncode


def tell_go(report: Report, output: GoOutput, program: str, environment: dict[str, str], words: list[str]) -> None:
    packages = sorted({package for package, _test in output.ends} | set(output.unbuilt))
    folders = go_folders(program, environment, words, [package.split(" ")[0] for package in packages])
    where: dict[tuple[str, str], str] = {}
    for package, (folder, files) in folders.items():
        for file in files:
            with open(os.path.join(folder, file), encoding="utf-8", errors="replace") as opened:
                for name in re.findall(r"^func (\w+)\(", opened.read(), re.MULTILINE):
                    where[package, name] = os.path.join(folder, file)
    words_of = {"pass": "passed", "fail": "failed", "skip": "skipped"}
    for (package, test), action in output.ends.items():
        name, _, parameters = test.partition("/")
        file = where.get((package, name)) or folders.get(package, (package, []))[0]
        outcome = words_of[action]
        lines = [text.strip() for text in output.said.get((package, test), ()) if text.strip()]
        why = next((line for line in lines if not line.startswith(("=== ", "--- "))), "")
        is_red = outcome == "failed"
        report.case((file, name, parameters), outcome, "test" if is_red else "", why if is_red else "")
    for package, why in output.unbuilt.items():
        folder, files = folders.get(package, (package, []))
        for file in files or [""]:
            report.case((os.path.join(folder, file) if file else folder, "", ""), "error", "collection", why)


def go_folders(
    program: str, environment: dict[str, str], words: list[str], packages: list[str]
) -> dict[str, tuple[str, list[str]]]:
    """Folder and test files of each package; a package that go can't list has none."""
    if not packages:
        return {}
    where = "{{.ImportPath}}\t{{.Dir}}\t{{range .TestGoFiles}}{{.}},{{end}}{{range .XTestGoFiles}}{{.}},{{end}}"
    at = words.index("-C") if "-C" in words else -1
    place = words[at : at + 2] if at >= 0 else [word for word in words if word.startswith("-C=")][:1]
    command = [program, "list", *place, "-e", "-f", where, *packages]
    clean = {**environment, "GOFLAGS": without_json(environment.get("GOFLAGS", ""))}
    done = subprocess.run(command, env=clean, capture_output=True, encoding="utf-8", errors="replace", check=False)
    found: dict[str, tuple[str, list[str]]] = {}
    for line in done.stdout.splitlines():
        path, _, rest = line.partition("\t")
        folder, _, files = rest.partition("\t")
        if folder:
            found[path] = (folder, [file for file in files.split(",") if file])
    return found


def without_json(flags: str) -> str:
    return " ".join(flag for flag in flags.split() if flag.lstrip("-").split("=")[0] != "json")


# ---- cargo -----------------------------------------------------------------------------------------------------------


def run_cargo(program: str, words: list[str]) -> int:
    report = Report("cargo")
    chosen = target_of(words)
    chain = runner_of_project(chosen)
    stub = os.path.join(os.environ[FOLDER], "cargo-binary")
    environment = dict(os.environ)
    if chosen and chain is not None and not re.search(r"\s", stub):
        environment[runner_variable(chosen)] = stub
        environment["DETENT_CARGO_RUNNER"] = chain
        environment["DETENT_CARGO_REPORT"] = report.path + ".binaries"
    code = subprocess.run([program, *words], env=environment, check=False).returncode
    tell_cargo(report, code)
    return code if code >= 0 else 128 - code


def tell_cargo(report: Report, code: int) -> None:
    """Add what the binaries said; where cargo failed and none of them did, something did not compile."""
    begun, failed, whole = 0, False, True
    try:
        with open(report.path + ".binaries", encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        os.unlink(report.path + ".binaries")
    except OSError:
        lines = []
    for line in lines:
        if "binary" in line:
            begun += 1
            failed = failed or line["exit"] != 0
            whole = whole and line["whole"]
        else:
            report.case((line["file"], line["name"], ""), line["outcome"], line["stage"])
    if code and not failed:
        for path in rust_tests():
            report.case((path, "", ""), "error", "collection", f"cargo ended with {code} and no test binary failed")
    if whole:
        report.end(code)


def rust_tests() -> list[str]:
    found: list[str] = []
    looked = 0
    for folder, folders, files in os.walk(os.getcwd()):
        folders[:] = sorted(name for name in folders if name != "target" and not name.startswith("."))
        for name in sorted(files):
            looked += name.endswith(".rs")
            if looked > MOST_FILES:
                return found
            if name.endswith(".rs"):
                with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                    if re.search(r"#\[(\w+::)*test\b", file.read()):
                        found.append(os.path.join(folder, name))
    return found


def target_of(words: list[str]) -> str:
    for at, word in enumerate(words):
        if word == "--target" and at + 1 < len(words):
            return words[at + 1]
        if word.startswith("--target="):
            return word.partition("=")[2]
    if os.environ.get("CARGO_BUILD_TARGET"):
        return os.environ["CARGO_BUILD_TARGET"]
    rustc = real_program("rustc")
    if not rustc:
        return ""
    done = subprocess.run([rustc, "-vV"], capture_output=True, encoding="utf-8", errors="replace", check=False)
    found = re.search(r"^host: (\S+)$", done.stdout, re.MULTILINE)
    return found[1] if found else ""


def runner_variable(target: str) -> str:
    return f"CARGO_TARGET_{target.upper().replace('-', '_').replace('.', '_')}_RUNNER"


def runner_of_project(target: str) -> str | None:
    """The runner that the user already has for this target, as words of a shell; None where it is unknown."""
    if line := os.environ.get(runner_variable(target)):
        return shlex.join(line.split())
    folder = os.getcwd()
    while True:
        for name in (".cargo/config.toml", ".cargo/config"):
            try:
                with open(os.path.join(folder, name), "rb") as file:
                    targets = tomllib.load(file).get("target", {})
            except (OSError, tomllib.TOMLDecodeError):
                continue
            if any(key.startswith("cfg(") and "runner" in table for key, table in targets.items()):
                return None
            runner = targets.get(target, {}).get("runner")
            if runner:
                return shlex.join(runner if isinstance(runner, list) else runner.split())
        above = os.path.dirname(folder)
        if above == folder:
            return ""
        folder = above


def run_binary(words: list[str]) -> int:
    chain = shlex.split(os.environ.pop("DETENT_CARGO_RUNNER", ""))
    report = os.environ.pop("DETENT_CARGO_REPORT", "")
    os.environ.pop(REPORTS, None)
    command = [*chain, *words]
    has_output_option = any(word.split("=")[0] in ("--logfile", "--list", "--help", "-h") for word in words[1:])
    if not report or has_output_option or not is_libtest(words[0]):
        os.execvp(command[0], command)
    listed = subprocess.run([*command, "--list", "--format", "terse"], capture_output=True, check=False)
    names = [
        line[: -len(": test")]
        for line in listed.stdout.decode("utf-8", "replace").splitlines()
        if line.endswith(": test")
    ]
    log = f"{report}-{os.getpid()}.log"
    code = subprocess.run([*command, "--logfile", log], check=False).returncode
    ends = read_log(log)
    files = RustFiles(words[0])
    lines: list[dict[str, object]] = []
    for name in sorted({*names, *ends}):
        outcome = ends.get(name, "gone")
        file, inside = files.of(name)
        lines.append({"file": file, "name": inside, "outcome": outcome, "stage": "test" if outcome == "failed" else ""})
    is_whole = listed.returncode != 0 or "gone" not in (line["outcome"] for line in lines)
    lines.append({"binary": words[0], "exit": code, "whole": is_whole})
    with open(report, "a", encoding="utf-8") as opened:
        opened.write("".join(json.dumps(line) + "\n" for line in lines))
    return code if code >= 0 else 128 - code


def is_libtest(path: str) -> bool:
    import mmap

    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(LIBTEST_SAYS) >= 0


def read_log(path: str) -> dict[str, str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
        os.unlink(path)
    except OSError:
        return {}
    words = {"ok": "passed", "failed": "failed", "ignored": "skipped"}
    return {found[2]: words[found[1]] for line in lines if (found := _END.match(line))}


class RustFiles:
    """In which file the tests of one binary stand, by the names of its modules."""

    def __init__(self, binary: str) -> None:
        self._package = os.environ.get("CARGO_MANIFEST_DIR") or os.getcwd()
        self._name = re.sub(r"-[0-9a-f]{16}$", "", os.path.basename(binary).removesuffix(".exe"))
        self._roots = self._find_roots()

    def _find_roots(self) -> tuple[str, ...]:
        """Files that this binary may be made of; a test target can have the name of its crate."""
        crate = os.environ.get("CARGO_PKG_NAME", "").replace("-", "_")
        spelled = (self._name, self._name.replace("_", "-"))
        tests, programs = (
            [f"{folder}/{name}{rest}" for name in dict.fromkeys(spelled) for rest in (".rs", "/main.rs")]
            for folder in ("tests", "src/bin")
        )
        code = [*programs, "src/lib.rs", "src/main.rs"]
        roots = (*code, *tests) if self._name == crate else (*tests, *code)
        found = tuple(root for root in roots if os.path.isfile(os.path.join(self._package, root)))
        return found or ("Cargo.toml",)

    def of(self, test: str) -> tuple[str, str]:
        """The file, and the name inside it: what the file itself is called is no part of that."""
        places = [self._below(root, test) for root in self._roots]
        return next((place for place in places if _declares(*place)), places[0])

    def _below(self, root: str, test: str) -> tuple[str, str]:
        modules = test.split("::")[:-1]
        for count in range(len(modules), 0, -1):
            inside = os.path.join(os.path.dirname(root), *modules[:count])
            for path in (inside + ".rs", os.path.join(inside, "mod.rs")):
                if os.path.isfile(os.path.join(self._package, path)):
                    return os.path.join(self._package, path), test.split("::", count)[count]
        return os.path.join(self._package, root), test


def _declares(path: str, test: str) -> bool:
    """Whether a file has a function of this name, inside modules as deep as its name says."""
    *modules, name = test.split("::")
    inside = "".join(rf"\bmod {module}\b[\s\S]*?" for module in modules) or r"^(?!\s).*"
    with open(path, encoding="utf-8", errors="replace") as file:
        found = re.search(inside + rf"\bfn {name}\b", file.read(), re.MULTILINE)
    return found is not None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
