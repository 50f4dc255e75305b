"""Every command as data: the parser, `--help` and the generated reference page all read this table."""

from __future__ import annotations

from detent.core.record import Record


class Argument(Record):
    name: str
    summary: str
    required: bool = False
    many: bool = False


class Option(Record):
    flag: str
    value: str  # name of its value, "" for a switch
    summary: str
    many: bool = False


class Command(Record):
    name: str
    group: str
    summary: str
    run: str  # "module:function" below cli/commands, or with its room below faces; imported when the command is used
    arguments: tuple[Argument, ...] = ()
    options: tuple[Option, ...] = ()
    example: str = ""
    has_json: bool = True


_TASK = Argument("TASK", "id, unique beginning or folder; left out: this folder's task, else the only open one")
_REPO = Option("--repo", "PATH", "the repository or folder to work on (default: the current one)")
_REASON = Option("--reason", "WHY", "recorded in the journal")
_EDGE = Option("--edge", "NAME", "the move's name, where several are meant")
_NO_BRANCH = Option("--no-branch", "", "where the move makes a branch: work on the one that is checked out")
_NO_GIT = Option("--no-git", "", "where the move needs git: go on without, nothing can be brought back")
_SKIP_ASSESS = Option("--skip-assess", "", "where the move wants an assessment: go on without one")
_YES = Option("--yes", "", "answer yes where the move asks first")
_TREE = Option("--tree", "ID", "refuse unless the tree is still this one, as `detent diff --json` named it")
_NO_WAIT = Option("--no-wait", "", "start what is due and don't wait for it; `detent watch` or another run goes on")
_LIMIT = Option("--last", "N", "only the last N lines")

GLOBAL_OPTIONS = (
    Option("--json", "", "machine-readable output (schema 1)"),
    Option("--help", "", "this text"),
)

COMMANDS = (
    Command(
        "demo",
        "Start",
        "watch a lying agent being caught, killed, corrected and finished, in a throw-away repository",
        "demo:demo",
        options=(
            Option("--keep", "DIR", "play in this new folder (default: one for temporary files, which also stays)"),
        ),
    ),
    Command(
        "init",
        "Start",
        "look at this repository and write a detent.toml for it, with comments",
        "init:init",
        options=(
            Option("--print", "", "only print the file"),
            Option("--force", "", "write over an existing detent.toml; the old one is kept as detent.toml.bak"),
            _REPO,
        ),
    ),
    Command(
        "doctor",
        "Start",
        "look at this host, this project and its tasks, and try its commands; mend a spoilt native file",
        "upkeep:doctor",
        (_TASK,),
        (
            Option("--quick", "", "do not run the commands of detent.toml in a fresh checkout"),
            Option("--repair", "", "put the task's native file back; what stood there is kept aside"),
            Option("--accept-red", "", "write the tests that fail on the last commit into [proof] red of detent.toml"),
            Option("--yes", "", "with --accept-red: write them without asking"),
            _REPO,
        ),
    ),
    Command(
        "trust",
        "Start",
        "show what this repository's settings would run or pass outside the sandbox, and allow it",
        "trust:trust_command",
        options=(
            Option("--show", "", "only show it, with its digest"),
            Option("--yes", "", "trust the settings as they are"),
            Option("--digest", "HASH", "trust them only if this is their digest, as in CI"),
            _REPO,
        ),
        example="detent trust --show",
    ),
    Command(
        "new",
        "Start",
        "make a task",
        "act:new",
        (Argument("MACHINE", "a machine's name or file (default: phase)"), Argument("TEXT", "what is to be done")),
        (
            Option("--from", "FILE", "take the text from a file, or from standard input with -"),
            Option("--issue", "N", "take the text from an issue, read as [issue] in detent.toml says (default: gh)"),
            Option(
                "--agent", "ROLE=AGENT[:MODEL]", "who serves a role; repeated for one role: tried in turn", many=True
            ),
            Option("--budget", "USD", "what the task may cost"),
            Option("--id", "ID", "the task's id (default: from the text)"),
            _REPO,
            Option("--dir", "DIR", "the task folder (default: outside the repository, see `detent dir`)"),
            Option("--check", "CMD", "a command that must exit with 0 before the task is done", many=True),
            Option("--mode", "MODE", "one of the machine's modes"),
            Option("--kind", "KIND", "fix, feature, refactor, docs or chore (default: guessed from the text)"),
            Option(
                "--sealed",
                "FILE[:PLACE]",
                "a test or script that agents never see, run before the task is done",
                many=True,
            ),
            Option("--start", "", "let `detent watch` drive it at once"),
            Option("--with-tasks", "", "also make the file for substeps, where the machine has one"),
            Option("--in-place", "", "work in the checkout itself (default with git: a clone of its own)"),
            Option("--include-dirty", "", "carry what is not committed into the clone"),
        ),
        'detent new phase "parse empty lines" --check "python3 -m unittest"',
    ),
    Command(
        "adopt",
        "Start",
        "take over a task folder that another tool made",
        "act:adopt",
        (Argument("DIR", "the folder", required=True), Argument("MACHINE", "the machine it follows", required=True)),
        (Option("--id", "ID", "the task's id (default: the folder's name)"), _REPO),
    ),
    Command(
        "run",
        "Start",
        "drive tasks: start the agent each state wants, judge what it leaves, go on until somebody must act",
        "drive:run",
        (Argument("TASK", _TASK.summary, many=True),),
        (
            Option("--all", "", "every open task of the project"),
            Option("--once", "", "at most one agent run for each task"),
            Option("--adopt", "MACHINE", "TASK is a folder; if it is no task yet, take it over first"),
            _NO_WAIT,
            Option("--no-start", "", "judge what ended and take open moves, but start no agent run"),
            Option("--since", "LINE", "a `detent stop` after this line of the journal counts (default: from now on)"),
            Option("--detach", "", "go on in the background; look with: detent logs -f"),
            Option("--jobs", "N", "how many agents may work at a time (default: 1)"),
            _REPO,
        ),
        "detent run",
    ),
    Command(
        "watch",
        "Start",
        "drive every started task of the project until interrupted; one at a time per project",
        "watch:watch",
        options=(
            Option("--jobs", "N", "how many agents may work at a time (default: 4)"),
            Option("--once", "", "end when everything rests"),
            _REPO,
        ),
    ),
    Command(
        "start",
        "Start",
        "let `detent watch` drive a task from now on",
        "drive:start",
        (_TASK,),
        (_REPO,),
    ),
    Command(
        "stop",
        "Start",
        "end a task's agent run, and don't drive the task until it is started again",
        "drive:stop",
        (_TASK,),
        (_REASON, _REPO),
    ),
    Command(
        "respawn",
        "Start",
        "another agent run in the same state, although the last one led nowhere; what follows is driven too",
        "drive:respawn",
        (_TASK,),
        (Option("--once", "", "only this one run"), _NO_WAIT, _REPO),
    ),
    Command(
        "talk",
        "Start",
        "talk to the agent of the task's state in this terminal; what it leaves is judged as after any other run",
        "drive:talk",
        (_TASK,),
        (_REPO,),
    ),
    Command(
        "list",
        "Look",
        "all tasks of this project, newest first; * marks the one that is meant when none is named",
        "look:list_tasks",
        options=(
            Option("--machine", "NAME", "only tasks of this machine", many=True),
            Option("--state", "STATE", "only tasks in this state", many=True),
            Option("--open", "", "only tasks that are not finished"),
            _REPO,
        ),
    ),
    Command(
        "inbox",
        "Look",
        "all that waits for a person, and the command that answers it",
        "people:inbox",
        options=(_REPO,),
    ),
    Command(
        "use",
        "Look",
        "choose the task that is meant when none is named, where its machine keeps that",
        "people:use",
        (_TASK,),
        (_REPO,),
    ),
    Command("status", "Look", "where a task stands and who must act", "look:status", (_TASK,), (_REPO,)),
    Command(
        "next",
        "Look",
        "every move from here: open or not, what is missing, and the command to run",
        "look:next_moves",
        (_TASK,),
        (_REPO,),
    ),
    Command(
        "route",
        "Look",
        "the shortest way to a state and what its first move still needs",
        "look:route",
        (_TASK,),
        (
            Option("--to", "STATE", "where to (default: the first end)"),
            Option("--take", "", "make the moves that are open, and stop at the first that is not"),
            _REPO,
        ),
    ),
    Command(
        "logs",
        "Look",
        "what an agent run printed",
        "logs:logs",
        (_TASK,),
        (
            Option("-f", "", "go on until the run has ended"),
            Option("--run", "N", "the run's number (default: the last one)"),
            Option("--errors", "", "its error output instead"),
            Option("--prompt", "", "what it was told instead"),
            _REPO,
        ),
        "detent logs -f",
    ),
    Command("history", "Look", "what happened, line by line", "look:history", (_TASK,), (_LIMIT, _REPO)),
    Command(
        "diff",
        "Look",
        "what the task has changed so far, new files too: its baseline against the tree as it is now",
        "result:diff",
        (_TASK,),
        (
            Option("--stat", "", "only how much of each file changed"),
            Option("--since", "TREE", "compare with this tree of the task's history instead of its baseline"),
            _REPO,
        ),
    ),
    Command(
        "dir",
        "Look",
        "print the path of the task folder",
        "look:folder",
        (_TASK,),
        (Option("--tree", "", "of the tree that is worked on instead"), _REPO),
    ),
    Command(
        "move",
        "Answer",
        "ask for a move; without TO: judge what the task's file asks for, else take the first open move",
        "act:move",
        (Argument("TO", "a state or the name of a move"), _TASK),
        (
            Option("--edge", "NAME", "the move's name, where two moves lead to one state"),
            Option("--as", "agent", "ask with the rights of the state's own agent"),
            _REASON,
            _TREE,
            Option("--override", "WHY", "waive gates, only where the machine allows it"),
            _YES,
            _SKIP_ASSESS,
            _NO_BRANCH,
            _NO_GIT,
            _REPO,
        ),
        "detent move verify",
    ),
    Command(
        "prove",
        "Answer",
        "run every command of the current state's moves on the tree as it is; moves nothing",
        "act:prove",
        (_TASK,),
        (Option("--again", "", "run red commands again; every attempt is kept"), _REPO),
    ),
    Command(
        "answer",
        "Answer",
        "say something to the task; where it waits for an answer it goes on",
        "act:answer",
        (Argument("TEXT", "the answer", required=True), _TASK),
        (_REPO,),
        'detent answer "keep both formats"',
    ),
    Command(
        "task update",
        "Answer",
        "ask for a state by its name, or give the task other words; inside an agent run this is a claim",
        "task_words:update",
        (_TASK,),
        (
            Option("--status", "STATE", "the state to move to; the one it is in already changes nothing"),
            Option("--summary", "TEXT", "what is to be done, in one line"),
            _REASON,
            _REPO,
        ),
        "detent task update --status agent-review",
    ),
    Command(
        "task complete",
        "Answer",
        "take the move that the machine calls complete",
        "task_words:complete",
        (_TASK,),
        (_REASON, _REPO),
    ),
    Command(
        "approve",
        "Answer",
        "sign off what waits for it; also approve protected files that the task touched, with a reason",
        "people:approve",
        (_TASK,),
        (
            *(_REASON, _EDGE, _TREE),
            Option("--tests", "", "accept the tests that the task changed, as they were shown on this tree"),
            Option("--proof", "WORD", "accept that the tests prove no more than this word, with a reason"),
            Option("--sealed", "", "accept this tree although its sealed checks did not pass, with a reason"),
            Option(
                "--unseen", "", "confirm the deploy commands ahead, for the next tree that is verified and no other"
            ),
            *(_SKIP_ASSESS, _YES, _REPO),
        ),
        'detent approve --reason "the new job is wanted"',
    ),
    Command(
        "reject",
        "Answer",
        "send back what waits for a sign-off; the reason is told to the next agent",
        "people:reject",
        (_TASK,),
        (_REASON, _EDGE, _YES, _REPO),
    ),
    Command(
        "cancel",
        "Answer",
        "give a task up, ending its agent run first",
        "people:cancel",
        (_TASK,),
        (_REASON, _EDGE, _YES, _REPO),
    ),
    Command(
        "choose",
        "Answer",
        "take what a letter or word of the state's menu means; without one, show the menu",
        "choose:choose",
        (Argument("KEY", "a letter of the menu, or a word for the move"), _TASK),
        (_REASON, _SKIP_ASSESS, _NO_BRANCH, _NO_GIT, _YES, _REPO),
        "detent choose R",
    ),
    Command(
        "say",
        "Answer",
        "one line to a task: /next, /redo, /WORD for a move or state, or text for whoever listens; /help lists them",
        "say:say",
        (Argument("WORDS", "what you say", required=True), _TASK),
        (_REASON, _SKIP_ASSESS, _YES, _REPO),
        'detent say "/next"',
    ),
    Command(
        "resume",
        "Answer",
        "bring a blocked or stopped task back",
        "act:resume",
        (_TASK,),
        (_REASON, _NO_BRANCH, _NO_GIT, _YES, _REPO),
    ),
    Command(
        "amend",
        "Answer",
        "as a person, accept edits to locked fields; earlier proof becomes old",
        "act:amend",
        (_TASK,),
        (_REASON, _REPO),
    ),
    Command(
        "configure",
        "Answer",
        "as a person, set what holds for one task from now on; what its file shows waits for the agent run",
        "people:configure",
        (_TASK,),
        (
            Option("--budget", "USD", "the most all its agent runs may cost"),
            Option("--runs", "N", "the most agent runs it may have in all"),
            Option("--hours", "N", "the most hours its agent runs may take in all"),
            Option("--limit", "NAME=N", "a limit of its machine; repeatable", many=True),
            Option("--mode", "M", "one of its machine's modes"),
            Option("--agent", "ROLE=AGENT[:MODEL]", "who serves a role; repeated ones are tried in turn", many=True),
            Option("--check", "CMD", "one more command that must exit with 0; repeatable", many=True),
            Option("--kind", "KIND", "what the change is: fix, feature, refactor, docs or chore"),
            Option("--pack", "", "go on with the changed code of the pack its machine comes from; needs a reason"),
            _REASON,
            _REPO,
        ),
        "detent configure --budget 20 --agent judge=codex",
    ),
    Command(
        "evidence",
        "Result",
        "write one self-contained page that shows a task: what was asked, what happened, what proves it",
        "result:evidence",
        (_TASK,),
        (Option("--out", "FILE", "write it there (default: into the task folder)"), _REPO),
    ),
    Command(
        "commit",
        "Result",
        "commit what was approved, in your name and with your hooks; later edits stay uncommitted",
        "people:commit",
        (_TASK,),
        (
            Option("--message", "TEXT", "the commit's message (default: made from the task)"),
            Option("--sha", "COMMIT", "record this commit, which holds the approved tree, instead of making one"),
            _NO_GIT,
            _REASON,
            _EDGE,
            _YES,
            _REPO,
        ),
    ),
    Command(
        "land",
        "Result",
        "take the work of a finished task over into your current branch, once its proof holds on the merged tree",
        "result:land",
        (_TASK,),
        (
            Option("--squash", "", "as one commit instead of a merge"),
            Option("--pr", "", "push the task's branch to origin and run the command of `[land] pr` instead"),
            Option("--print", "", "only print the commands a person would run"),
            Option("--yes", "", "also what you waived, or have not accepted: land says what it asks"),
            _REPO,
        ),
    ),
    Command(
        "restore",
        "Result",
        "bring the files of the tree back to a checkpoint; what stands there is kept, the state stays",
        "result:restore",
        (_TASK,),
        (
            Option("--to", "LINE", "the line of the move, see `detent history`; 1: the baseline (default: the last)"),
            _REPO,
        ),
        "detent restore --to 7",
    ),
    Command(
        "rollback",
        "Result",
        "take the last deployment back by the command written down before it, with your rights",
        "result:rollback",
        (_TASK,),
        (
            _REASON,
            Option("--yes", "", "although the end of a deployment is not known: none is under way"),
            Option("--tree", "ID", "you looked at this tree, which is not the one that was deployed"),
            _REPO,
        ),
        'detent rollback --reason "the page is empty"',
    ),
    Command("machine list", "Machines", "the machines that come with detent", "machines:list_machines"),
    Command(
        "machine show",
        "Machines",
        "states, moves and gates of a machine",
        "machines:show_machine",
        (Argument("MACHINE", "name or file", required=True),),
        (Option("--schemas", "", "instead the JSON schemas of its artifacts"),),
    ),
    Command(
        "machine check",
        "Machines",
        "explore a machine with crashes, liars and absent people; tell the shortest story of each violation",
        "machines:check",
        (Argument("MACHINE", "name or file (default: all that come with detent)"),),
    ),
    Command(
        "machine export",
        "Machines",
        "a machine's relation as JSON or Mermaid, or all that `machine check` explores as a TLA+ module",
        "machines:export",
        (Argument("MACHINE", "name or file", required=True),),
        (
            Option("--format", "json|mermaid|tla", "default: json"),
            Option("--into", "DIR", "with tla: write the module and its TLC configuration there, and say how to check"),
        ),
    ),
    Command(
        "machine compare",
        "Machines",
        "compare a machine with a document: JSON, a TLA+ module, state diagrams, transition tables or maps of states",
        "machines:compare_machine",
        (Argument("MACHINE", "name or file", required=True), Argument("FILE", "the document", required=True)),
        (),
        "detent machine compare phase docs/plan.md",
    ),
    Command(
        "repl",
        "Advanced",
        "type lines to a task, each as with `detent say`, with completion and history; lines from a pipe are a script",
        "repl.command:repl",
        (_TASK,),
        (_REPO,),
        "detent repl",
    ),
    Command(
        "tui",
        "Advanced",
        "a dashboard in this terminal: all tasks, what they wait for, keys to answer; drives started tasks",
        "tui.command:tui",
        options=(Option("--jobs", "N", "how many agents may work at a time (default: 4)"), _REPO),
        has_json=False,  # asked for, it says what to use instead
    ),
    Command(
        "gc",
        "Advanced",
        "remove homes, branches and refs of finished tasks whose work git shows as landed; journals stay",
        "result:gc",
        (Argument("TASK", "this task alone; with --yes --journals also one that is not finished, and all of it"),),
        options=(
            Option("--dry-run", "", "only list what would go"),
            Option("--yes", "", "also other work; it is kept under refs/detent/collected/ of your repository"),
            Option(
                "--journals",
                "",
                "remove the journals, receipts and checkpoints too, and the folders of threads in .ralf/",
            ),
            _REPO,
        ),
    ),
    Command(
        "audit",
        "Advanced",
        "replay journals against machine, receipts, files and git; exit 1 if something does not hold",
        "audit:audit",
        (Argument("TASK", "id, unique beginning or folder; left out: this folder's task, else every task"),),
        (Option("--all", "", "every task of the project"), _REPO),
    ),
    Command(
        "attack",
        "Advanced",
        "let scripted liars loose on a throw-away project; exit 1 if one does what its sandbox level claims to stop",
        "attack:attack",
        options=(
            Option("--level", "LEVEL", "bubblewrap, landlock or none (default: the best of this host)", many=True),
            Option("--all", "", "every level that holds on this host"),
            Option("--machine", "MACHINE", "only tasks of this machine (default: all five)", many=True),
            Option("--only", "NAME", "only this attack, after its honest control", many=True),
            Option(
                "--without-proof", "", "only cheats of the tests, where exit codes alone count: each must get through"
            ),
            Option("--list", "", "what each attack tries and what stops it at each level; runs nothing"),
        ),
    ),
)

GROUPS = ("Start", "Look", "Answer", "Result", "Machines", "Advanced")
