"""Measures loup beside its peers, in one process, against the limit of the machine."""
