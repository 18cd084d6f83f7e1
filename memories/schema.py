"""The triggers on `atoms` and the view over it, as SQL: used by every migration that must put them back.

`index_text` is registered on every connection of ours; a foreign writer is refused by SQLite ("no such function"),
by design: a row that our index does not know would be found by nobody.
"""

CREATE_TRIGGERS = [
    """
    CREATE TRIGGER atoms_after_insert AFTER INSERT ON atoms BEGIN
        INSERT INTO atom_fts(rowid, source, text, tags, scenario)
        VALUES (new.id, index_text(new.source), index_text(new.text), index_text(new.tags), index_text(new.scenario));
    END
    """,
    """
    CREATE TRIGGER atoms_after_update AFTER UPDATE OF id, source, text, tags, scenario ON atoms BEGIN
        DELETE FROM atom_fts WHERE rowid = old.id;
        INSERT INTO atom_fts(rowid, source, text, tags, scenario)
        VALUES (new.id, index_text(new.source), index_text(new.text), index_text(new.tags), index_text(new.scenario));
    END
    """,
    """
    CREATE TRIGGER atoms_after_delete AFTER DELETE ON atoms BEGIN
        DELETE FROM atom_fts WHERE rowid = old.id;
        DELETE FROM atom_vec WHERE atom_pk = old.id;
        DELETE FROM evidence_edges WHERE from_atom_id = old.atom_id OR to_atom_id = old.atom_id;
        DELETE FROM cartridge_atoms WHERE atom_id = old.atom_id;
    END
    """,
]
DROP_TRIGGERS = [
    "DROP TRIGGER IF EXISTS atoms_after_insert",
    "DROP TRIGGER IF EXISTS atoms_after_update",
    "DROP TRIGGER IF EXISTS atoms_after_delete",
]

# Unknown bounds read as visible: absence of evidence about when a row was true is no evidence that it is false.
# The clock is formatted as `timestamps` writes it, so the comparison is exact to the millisecond.
CREATE_VIEW = [
    """
    CREATE VIEW v_atoms_current AS
    SELECT * FROM atoms
    WHERE (valid_to IS NULL OR valid_to > strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now'))
      AND (valid_from IS NULL OR valid_from <= strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now'))
      AND (retention_until IS NULL OR retention_until >= strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now'))
    """
]
DROP_VIEW = ["DROP VIEW IF EXISTS v_atoms_current"]
