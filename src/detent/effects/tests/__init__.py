"""Tests of a project: which runner a command calls, what ran, which files judge it, and planting in a checkout.

The door, in the order of a proof. Nothing here runs a command; the caller does, with the variables it is given.

1. `runners.load_runners(settings)`, then `recognise.recognise(command, checkout, runners)`: the calls of runners in a
   command, the files that it is made of, and what can't be reached, with the line to add.
2. `reporting.prepare(folder, environment, checkout)` before each run: variables, a folder to read and one to write.
   `reports.read_reports(place.reports, checkout)` after it; `reports.read_junit` where the project declares its own.
   Both give a census (`store/text/census.py`), which `gates/compare_censuses.py` compares.
3. `judge_files.judge_of(recognised, runners, base_paths)` says which files judge. `judge_change.compare_judges(base,
   now, judge)` says what changed among them, test by test. `laying.lay(checkout, judge, theirs)` puts the judge of one
   tree over the code of another. `tree_files.TreeFiles` is what trees are compared by, of git or of a folder.
4. `planting.plant(checkout, wanted, random)` plants a canary, twins and broken copies. `planting.make_raise(checkout,
   files, base)` lets changed functions raise. Only the checkout that is given is written.
"""
