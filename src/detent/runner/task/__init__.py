"""Opens a task and tells what it is: folders, words, budget, agents."""
