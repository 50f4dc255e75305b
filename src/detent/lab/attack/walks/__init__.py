"""How an honest task of each machine gets to the states in which attackers are let loose: data and small scripts."""
