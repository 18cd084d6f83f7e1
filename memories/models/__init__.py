"""The tables of a rekal store: atoms with their sources, scenarios, cartridges and evidence.

Names and columns mirror the transactive store's DDL; `docs/architecture.md` lists the departures. JSON lives in
text columns with CHECK constraints and is read through properties that survive a bad row. Full text (`atom_fts`),
vectors (`atom_vec`), triggers and the view `v_atoms_current` are raw SQL in the migrations.
"""

from memories.models.atoms import (
    MODALITIES,
    ORIGINS,
    PRECISIONS,
    RELATIONS,
    TEXT_KEY,
    Atom,
    EvidenceEdge,
    Scenario,
    Source,
)
from memories.models.cartridges import (
    Cartridge,
    CartridgeAtom,
    CartridgeShare,
    Mount,
)
from memories.models.columns import (
    MOMENT,
    json_check,
    moment_check,
    new_atom_id,
)
from memories.models.upkeep import (
    AuditEntry,
    CachedEmbedding,
    CacheEvent,
    IdempotentReply,
    StoreSetting,
)

__all__ = [
    "MODALITIES",
    "MOMENT",
    "ORIGINS",
    "PRECISIONS",
    "RELATIONS",
    "TEXT_KEY",
    "Atom",
    "AuditEntry",
    "CacheEvent",
    "CachedEmbedding",
    "Cartridge",
    "CartridgeAtom",
    "CartridgeShare",
    "EvidenceEdge",
    "IdempotentReply",
    "Mount",
    "Scenario",
    "Source",
    "StoreSetting",
    "json_check",
    "moment_check",
    "new_atom_id",
]
