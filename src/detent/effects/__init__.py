"""Acts: observes and changes the world through git, workspaces, commands and agents."""
