"""What only the machine `global` needs: plans, reviews, decisions, reverts."""
