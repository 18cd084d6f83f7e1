"""Invented SQLite files in the shapes other programs left behind."""

import json
import sqlite3
from pathlib import Path

STAMP = "2026-01-02 03:04:05"

MINIMAL = """
CREATE TABLE memories (
    id TEXT PRIMARY KEY, content TEXT NOT NULL, project TEXT, tags TEXT,
    created_at TEXT NOT NULL DEFAULT (datetime('now')), updated_at TEXT NOT NULL DEFAULT (datetime('now'))
);
"""
OLDEST = """
CREATE TABLE memories (
    id TEXT PRIMARY KEY, content TEXT NOT NULL, memory_type TEXT NOT NULL DEFAULT 'fact', project TEXT, tags TEXT,
    created_at TEXT NOT NULL DEFAULT (datetime('now')), updated_at TEXT NOT NULL DEFAULT (datetime('now'))
);
"""
OLD = """
CREATE TABLE conversations (id TEXT PRIMARY KEY, title TEXT, project TEXT, started_at TEXT, metadata TEXT);
CREATE TABLE memories (
    id TEXT PRIMARY KEY, content TEXT NOT NULL, memory_type TEXT NOT NULL DEFAULT 'fact',
    tier TEXT NOT NULL DEFAULT 'durable', project TEXT, conversation_id TEXT REFERENCES conversations(id), tags TEXT,
    created_at TEXT NOT NULL DEFAULT (datetime('now')), updated_at TEXT NOT NULL DEFAULT (datetime('now')),
    expires_at TEXT, access_count INTEGER NOT NULL DEFAULT 0, last_accessed_at TEXT
);
CREATE TABLE memory_links (
    from_id TEXT NOT NULL, to_id TEXT NOT NULL, relation TEXT NOT NULL,
    created_at TEXT NOT NULL DEFAULT (datetime('now')), PRIMARY KEY (from_id, to_id, relation)
);
"""


def rekal_minimal(path: Path) -> Path:
    """Two plain rows, one with broken tags."""
    with sqlite3.connect(path) as raw:
        raw.executescript(MINIMAL)
        raw.execute(
            "INSERT INTO memories VALUES ('a1', 'The router sits in the hall', 'house', '[\"net\"]', ?, ?)",
            (STAMP, STAMP),
        )
        raw.execute(
            "INSERT INTO memories VALUES ('a2', 'The router sits in the hall', 'house', '[broken', ?, ?)",
            (STAMP, STAMP),
        )
    raw.close()
    return path


def rekal_oldest(path: Path) -> Path:
    """Before tiers and links."""
    with sqlite3.connect(path) as raw:
        raw.executescript(OLDEST)
        raw.execute(
            "INSERT INTO memories (id, content, created_at, updated_at) VALUES ('l1', 'No links here', ?, ?)",
            (STAMP, STAMP),
        )
        raw.execute("INSERT INTO memories (id, content, created_at) VALUES ('l2', 'A broken clock', 'once')")
    raw.close()
    return path


def rekal_old(path: Path) -> Path:
    """Every feature the upgrade drops: a superseded row, a scratch note, links, a conversation, counters."""
    with sqlite3.connect(path) as raw:
        raw.executescript(OLD)
        raw.execute("INSERT INTO conversations (id, title) VALUES ('c1', 'An old chat')")
        rows = [
            ("new", "Ben eats fish", "fact", "durable", "c1", None, "2026-03-01 10:00:00", 7),
            ("old", "Ben is vegetarian", "fact", "durable", None, None, "2025-01-01 10:00:00", 3),
            (
                "note",
                "Buy nails today",
                "context",
                "scratch",
                None,
                "2999-12-31 23:59:59",
                "2026-03-02 10:00:00",
                0,
            ),
        ]
        for one, content, kind, tier, conversation, expires, created, count in rows:
            raw.execute(
                "INSERT INTO memories (id, content, memory_type, tier, conversation_id, expires_at, created_at, access_count, project)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'family')",
                (one, content, kind, tier, conversation, expires, created, count),
            )
        raw.executemany(
            "INSERT INTO memory_links VALUES (?, ?, ?, ?)",
            [
                ("new", "old", "supersedes", "2026-03-01 10:00:01"),
                ("note", "new", "related_to", STAMP),
                ("new", "gone", "supports", STAMP),
            ],
        )
    raw.close()
    return path


TRANSACTIVE = """
CREATE TABLE sources (source_id TEXT PRIMARY KEY, path TEXT, kind TEXT, mime TEXT, sha256 TEXT, size_bytes INTEGER,
    created_at TEXT, metadata_json TEXT);
CREATE TABLE evidence_edges (id INTEGER PRIMARY KEY, from_atom_id TEXT, to_atom_id TEXT, relation TEXT, confidence REAL,
    metadata_json TEXT);
INSERT INTO sources VALUES ('s1', '/home/x/manual.pdf', 'pdf', 'application/pdf', 'ab', 10, '2026-01-01T00:00:00+00:00', '{}');
"""
ATOMS_1 = """
CREATE TABLE atoms (atom_id TEXT PRIMARY KEY, source_id TEXT, modality TEXT, source TEXT, {stamp} TEXT, text TEXT,
    image_ref TEXT, embedding_refs_json TEXT, layout_json TEXT, relations_json TEXT, trust_json TEXT,
    token_equivalent INTEGER, metadata_json TEXT{more});
"""
ATOMS_2 = """, holder_id TEXT DEFAULT '', origin TEXT DEFAULT 'artifact', scenario TEXT DEFAULT '', event_time TEXT,
    event_time_end TEXT, event_time_precision TEXT DEFAULT 'unknown', event_time_source TEXT DEFAULT '', valid_from TEXT,
    valid_to TEXT, supersedes_json TEXT DEFAULT '[]', visibility_json TEXT DEFAULT '{}', retention_until TEXT"""
HOLDERS = """
CREATE TABLE holders (holder_id TEXT PRIMARY KEY, name TEXT, kind TEXT, knows_about_json TEXT, contact_json TEXT,
    created_at TEXT, updated_at TEXT);
INSERT INTO holders VALUES ('wife', 'Wen', 'person', '["school"]', '{"phone": "555-0100"}', '', '');
"""


def transactive(path: Path, version: int) -> Path:
    """Two artifacts, and from version 2 on a belief of somebody's with mixed time formats."""
    with sqlite3.connect(path) as raw:
        raw.executescript(TRANSACTIVE)
        more = ATOMS_2 if version >= 2 else ""
        raw.executescript(ATOMS_1.format(stamp="ingested_at" if version >= 2 else "time", more=more))
        stamp = "ingested_at" if version >= 2 else "time"
        columns = (
            f"atom_id, source_id, modality, source, {stamp}, text, layout_json, trust_json, metadata_json"
        )
        rows = [
            (
                "t1",
                "s1",
                "pdf_page",
                "manual.pdf#page=3",
                "2026-01-01T10:00:00+02:00",
                "Descale it monthly",
                '{"page": 3}',
                '{"ocr": 0.9}',
                '{"k": 1}',
            ),
            ("t2", "s1", "text", "manual.pdf#page=4", "1767225600", "Use soft water", None, "{}", "{}"),
            ("t3", "s1", "text", "manual.pdf#page=5", "2026-01-01 10:00:00", "", None, "{}", "not json"),
        ]
        raw.executemany(f"INSERT INTO atoms ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        raw.execute("INSERT INTO evidence_edges VALUES (1, 't2', 't1', 'derived_from', 0.5, '{}')")
        raw.execute("INSERT INTO evidence_edges VALUES (2, 't2', 't1', 'resembles', 7.5, '{}')")
        if version >= 2:
            raw.execute(
                f"INSERT INTO atoms ({columns}, holder_id, origin, event_time, valid_from, valid_to, supersedes_json, visibility_json)"
                " VALUES ('t4', 's1', 'text', '', '2026-02-01T00:00:00Z', 'Mum pays the piano lessons', NULL, '{}', '{}',"
                " 'wife', 'hearsay', '2026-02-01', '1767225600000', NULL, '[\"t2\"]', ?)",
                (json.dumps({"scope": "holders", "holders": ["husband"], "deny": ["mira"]}),),
            )
        if version >= 5:
            raw.executescript(HOLDERS)
        raw.execute(f"PRAGMA user_version = {version}")
    raw.close()
    return path
