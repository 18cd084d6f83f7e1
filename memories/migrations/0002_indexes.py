"""Full text, vectors, the triggers that keep both true, and the view of what is usable now.

A later migration that makes Django rebuild `atoms` (SQLite drops a table's triggers with it) wraps itself in
`DROP` and `CREATE` from here: `memories.schema`.
"""

from django.db import migrations

from memories.schema import CREATE_TRIGGERS, CREATE_VIEW, DROP_TRIGGERS, DROP_VIEW

CREATE_FTS = [
    """
    CREATE VIRTUAL TABLE atom_fts USING fts5(
        source, text, tags, scenario,
        tokenize = "unicode61 remove_diacritics 2 categories 'L* N* Co M*'"
    )
    """,
    "INSERT INTO atom_fts(atom_fts, rank) VALUES ('secure-delete', 1)",
]
CREATE_VECTORS = [
    """
    CREATE VIRTUAL TABLE atom_vec USING vec0(
        atom_pk INTEGER PRIMARY KEY, embedding float[384] distance_metric=cosine, chunk_size=64
    )
    """
]
MARK = ["PRAGMA user_version = 5", "PRAGMA application_id = 1380272961"]
UNMARK = ["PRAGMA user_version = 0", "PRAGMA application_id = 0"]


class Migration(migrations.Migration):
    """Raw SQL with a real reverse for each step."""

    dependencies = [("memories", "0001_initial")]

    operations = [
        migrations.RunSQL(CREATE_FTS, ["DROP TABLE IF EXISTS atom_fts"]),
        migrations.RunSQL(CREATE_VECTORS, ["DROP TABLE IF EXISTS atom_vec"]),
        migrations.RunSQL(CREATE_TRIGGERS, DROP_TRIGGERS),
        migrations.RunSQL(CREATE_VIEW, DROP_VIEW),
        migrations.RunSQL(MARK, UNMARK),
    ]
