"""Where the time goes: the servers of a setup under load, sampled, and their CPU time by what it was spent on."""
