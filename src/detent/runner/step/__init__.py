"""The one step and all it takes: settle, observe, prove, decide, commit, project, act."""
