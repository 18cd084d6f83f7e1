"""Measures the verbs on public question sets, in throw-away stores: what `manage.py evaluate` runs.

`sets` reads the files, `stores` makes a store a pool, `tasks` asks the questions through the real verbs,
`metrics` turns what came of them into figures, `references` ranks the same memories by four plain formulas,
`vector_cache` keeps the vectors and `runs` the rows of finished tasks, so that a second run is fast and a cut
one goes on.
"""
