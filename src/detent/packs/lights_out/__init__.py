"""What only the machine `lights-out` needs: deployment, reports of a block, commits along the way."""
