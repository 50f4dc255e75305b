"""The documents that an honest `lights-out` pipeline leaves behind for the smallest of projects: one right answer."""

from __future__ import annotations

BRIEF = "the answer is wrong. make it right pls, and fast.\n"
DEPLOY_FILE = "deploy.sh"
DEPLOY = 'mkdir -p "$HOME/live"\ncp app.sh "$HOME/live/app.sh"\n'
PREFERENCES = f"""# Preferences

## Stack

A shell.

## Deploy Target

A folder on this computer.

## Deploy Commands

- Pre-flight: `test -d "$HOME"`
- Deploy: `sh {DEPLOY_FILE}`
- Check: `test -s "$HOME/live/app.sh"`
- Rollback: `rm "$HOME/live/app.sh"`

## Conventions

Conventional commits.

## Security Baseline

No secrets in the source.

## Quality Bar

- shed: it works for one person.
- house: others rely on it.
- skyscraper: it may not fail unnoticed.
"""
SCOPE = """# Scope: answer

## Problem

The answer is wrong (docs/input/brief.md).

## Smallest Useful Version

One function that gives the right answer.

Small enough: yes, by expander, see docs/input/brief.md

## Acceptance Criteria

- AC-1: `answer` prints right.
- AC-2: it is printed within 60 s.

## Stack

A shell, as preferences.md says.

Conflicts: none

## Deployment Target

A folder on this computer.

## Data Model

Nothing is kept.

Stateful: no

## Estimated Cost

$0 per month: it runs on this computer.

## Quality Tier

shed

## Clarifications Needed

None.

## Deferred

Other answers.
"""
DESIGN = """# Design: answer

## Architecture

- app.sh: gives the answer.

## Directory Structure

```
app.sh
deploy.sh
ci/
└── gate/
    └── check.sh
tests/
└── test_app.py
```

## Interfaces

`answer` in `app.sh`.

## External Integrations

None.

## Observability

The answer goes to stdout.

## Complexity Exceptions

None.

## Open Questions

- Which answer is right?; resolved: the word itself.
"""
READINESS = """# Readiness: answer

## Verdict

READY

## Truths

- T-1: `echo` prints its words.

## Key Links

- AC-1: design: `app.sh`; test: tests/test_app.py; proof: run `sh ci/gate/check.sh`
- AC-2: design: `app.sh`; test: tests/test_app.py; proof: time `sh ci/gate/check.sh`

## Acceptance Criteria Coverage

- AC-1: test: tests/test_app.py; proof: run `sh ci/gate/check.sh`
- AC-2: test: tests/test_app.py; proof: time `sh ci/gate/check.sh`

## Scope Reduction Risks

None: there is one answer.

## Clarifications Needed

- Is a newline wanted?; changes pass/fail: no, no criterion asks for it.

## Build Order

1. AC-1, because all else rests on it.
2. AC-2

## Complexity Exceptions

None.
"""
REVIEW = """# Review

## Findings

- `answer` could say what it answers; severity: Nit; axis: readability; status: documented

## Axes

- correctness: every criterion was traced to a test that fails without its code.
- readability: names say what they do.
- architecture: as design.md draws it.
- security: no input reaches a shell.
- performance: one line is printed.

## Explicit Checks

- scope reduction: none found.
- placeholder behavior: none found.
- AC traceability: each AC-* is named in its test.
- dead code: none found.
- dependencies: none are used.
"""
RECONCILE = """# Reconciliation

## Outcome

CLEAN

## Axes

- directory structure: as drawn.
- interfaces: as written.
- acceptance criteria: all are met by the code.
- external integrations: not applicable, there are none.
- stack/deploy config: as preferences.md says.
- log accuracy: log.md tells what happened.
- readiness/traceability: all key links hold.

## Drift

None.
"""
VERIFICATION = """# Verification: answer

## Verdict

PASS

## Tests

Command: `python3 -m unittest discover -q -s tests`

```
Ran 1 test in 0.012s

OK
```

## Acceptance Criteria

### AC-1

- Kind: CLI output
- Command: `. ./app.sh; answer`
- Result: PASS

```
right
```

### AC-2

- Kind: sample-data run
- Command: `timeout 60 sh ci/gate/check.sh`
- Result: PASS

```
(no output)
```

## Truths

- T-1: one word was printed; result: PASS

## Application

Command: `. ./app.sh; answer`

```
right
```

## Security Scan

Critical: none

- secrets: none found with `grep -rniE "password|token|secret" .`
- injection: not reachable, nothing is passed to a shell, a page or a database.
- auth: not applicable, it runs for the person who starts it.
- dependency sources: none.

## Deploy Config

Target: A folder on this computer; matches: yes

## Key Links

Hold: yes

AC-1 and AC-2 were followed from scope to test to the runs above.
"""
README = """# answer

Gives the right answer.

## Local setup

A shell: `. ./app.sh; answer`.

## Deploy

`sh deploy.sh`

## Run the tests

`python3 -m unittest discover -q -s tests`
"""
DELIVERY = """# Delivery: answer 1

## Summary

One function that gives the right answer.

## Known Limitations

It gives one answer.

## Incident Response

Rollback: `rm ~/live/app.sh`
"""
