"""Makes tasks, and guesses and tries the settings of a project."""
