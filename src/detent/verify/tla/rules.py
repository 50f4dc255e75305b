"""The rules of `decide` in TLA+: they are the same in each translation, whatever the machine."""

WRITTEN_BY = "Written by: detent machine export"  # in the second line of each module

RULES = r"""
VARIABLES state, mode, count, group, register, stopped, passed, no
vars == <<state, mode, count, group, register, stopped, passed, no>>

\* A situation: where the task stands; what was counted, in which group of states, and remembered; whether a person must
\* act first; which properties hold (their `first` move was taken); whether the last run said no and the engine could
\* go on before another run ends.
Init ==
  /\ state = InitialState
  /\ mode \in Modes
  /\ count = [x \in Limits |-> 0]
  /\ group = [x \in PerGroup |-> ""]
  /\ register = Start
  /\ stopped = FALSE
  /\ passed = {}
  /\ no = FALSE

\* Who asks: a stopped task moves for a person only. A person may use the ways of agent and engine too.
Askers == {"agent", "engine", "person"}
MayAsk(who, ended, said) ==
  /\ who = "person" \/ ~stopped
  /\ who = "person" => ended = "entry"  \* people are not bound by how a run ended
  /\ ended = "entry" => said = ""
Holds(who, by) == who \in by \/ (who = "person" /\ by \cap {"agent", "engine"} # {})

\* What the last run said: "" nothing against going on; "gate" a gate of the state that means no; "asked" it asked for
\* another state and was refused; "both" such a gate, and it asked for the very state this move leads to.
\* Before a run of this visit has ended, what was said before the last move stands.
MayFollowNo(ended, said, marked) ==
  IF ended = "entry" THEN no => marked # ""
  ELSE said \in {"", "both"} \/ marked = "yes" \/ (marked = "unasked" /\ said = "gate")
Left(who, ended, said) ==
  CASE who = "person" -> FALSE
    [] ended = "entry" -> no
    [] who = "agent" -> said \in {"gate", "both"}
    [] OTHER -> said # ""

\* Counters stop at their cap. One that is counted per group starts anew where another group of states counts.
Least(a, b) == IF a < b THEN a ELSE b
Spent(c, g, x, own) == IF x \in PerGroup /\ g[x] # own THEN 0 ELSE c[x]
Counted(c, g, xs, own) == [x \in Limits |-> IF x \in xs THEN Least(Cap[x], Spent(c, g, x, own) + 1) ELSE c[x]]
Grouped(g, xs, own) == [x \in PerGroup |-> IF x \in xs THEN own ELSE g[x]]

\* What one group counted is taken back by its own move, and by one that leaves the groups.
IsReset(g, x, resets, own, there) ==
  \/ x \in ResetAlways
  \/ x \in resets /\ (x \in PerGroup /\ own # "" /\ there # "" => g[x] = own)

Take(c, g, who, left, move, to, resets, counts, memory) ==
  /\ to \in States
  /\ LET own == Group[state]
         there == Group[to]
         c1 == [x \in Limits |-> IF IsReset(g, x, resets, own, there) THEN 0 ELSE c[x]]
         g1 == [x \in PerGroup |-> IF IsReset(g, x, resets, own, there) THEN "" ELSE g[x]]
     IN /\ count' = Counted(c1, g1, counts, own)
        /\ group' = Grouped(g1, counts, own)
  /\ state' = to
  /\ register' = memory
  /\ stopped' = (stopped /\ who # "person")
  /\ passed' = {p \in passed : to \notin Since[p]} \cup {p \in Properties : move \in First[p]}
  /\ no' = (left /\ to \in GoesOn)
  /\ UNCHANGED mode

\* A crash that took no move: too many in a row stop the task.
Stay(c, g, left) ==
  /\ count' = c
  /\ group' = g
  /\ stopped' = (c["crashes"] >= Most["crashes"])
  /\ no' = (left /\ state \in GoesOn)
  /\ UNCHANGED <<state, mode, register, passed>>

\* A run that ended and opened nothing, where the machine counts runs.
RunOver(c, g) ==
  /\ count' = c
  /\ group' = g
  /\ no' \in {FALSE, (state \in GoesOn)}
  /\ UNCHANGED <<state, mode, register, stopped, passed>>

\* A person switches the mode; that is no move.
SwitchMode ==
  /\ state \in Switches
  /\ mode' \in Modes \ {mode}
  /\ UNCHANGED <<state, count, group, register, stopped, passed, no>>
"""
