"""The curators' admin of what is remembered: memories, scenarios, sources, cartridges, edges, the cache's events."""

from memories.admin import atoms, records, shelves

__all__ = ["atoms", "records", "shelves"]
