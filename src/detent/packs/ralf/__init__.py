"""What only the machine `ralf` needs: specs, criteria, the person's commit."""
