"""Stores of a given size for the benchmarks: believable statements, unit vectors drawn at random.

Vectors are drawn, not embedded: 100,000 embeddings would take a quarter of an hour and change nothing about the
time a search takes. Questions are embedded for real.
"""

import random

import numpy as np
from django.db import transaction

from memories import timestamps, vectors
from memories.embedding import cache
from memories.fields import dump_json
from memories.models import Atom, new_atom_id

THINGS = [
    "key",
    "ladder",
    "boiler",
    "passport",
    "drill",
    "kettle",
    "tent",
    "bicycle",
    "charger",
    "thermometer",
    "blanket",
    "hammer",
    "recipe",
    "invoice",
    "ticket",
    "lamp",
    "filter",
    "battery",
    "umbrella",
    "suitcase",
    "piano",
    "helmet",
    "vaccine",
    "receipt",
    "contract",
    "password",
    "garden",
    "hose",
    "toolbox",
]
PLACES = [
    "cellar",
    "attic",
    "kitchen",
    "garage",
    "shed",
    "hallway",
    "drawer",
    "cupboard",
    "car",
    "office",
    "bathroom",
    "balcony",
    "fridge",
    "shelf",
]
VERBS = [
    "lies",
    "hangs",
    "stands",
    "was",
    "repaired",
    "was",
    "moved",
    "was",
    "found",
    "is",
    "kept",
    "is",
    "locked",
    "is",
    "charged",
    "was",
    "bought",
]
PEOPLE = ["Mira", "Jonas", "Lea", "Ben", "Grandma", "Tom", "the-neighbour", "the-plumber"]
BATCH = 5_000


def statement(chance: random.Random) -> str:
    """One sentence of about a dozen words."""
    return (
        f"{chance.choice(PEOPLE)} says the {chance.choice(THINGS)} number {chance.randrange(10_000)} "
        f"{chance.choice(VERBS)} in the {chance.choice(PLACES)} next to the {chance.choice(THINGS)} "
        f"since {chance.randrange(1990, 2026)}."
    )


def fill(count: int, *, holders: list[str], hidden_share: float = 0.0, seed: int = 7) -> None:
    """Write `count` atoms spread over `holders`; `hidden_share` of them are private."""
    chance, draw = random.Random(seed), np.random.default_rng(seed)
    for start in range(0, count, BATCH):
        size = min(BATCH, count - start)
        drawn = draw.standard_normal((size, cache.engine().dimensions), dtype=np.float32)
        drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
        with transaction.atomic():
            vectors.record_model(cache.engine())
            atoms = Atom.objects.bulk_create(
                _atom(chance, start + number, holders, hidden_share) for number in range(size)
            )
            vectors.write_vectors((atom.pk, vector) for atom, vector in zip(atoms, drawn, strict=True))


def _atom(chance: random.Random, number: int, holders: list[str], hidden_share: float) -> Atom:
    private = chance.random() < hidden_share
    visibility = {
        "scope": "private" if private else "household",
        "holders": [],
        "groups": [],
        "deny": [],
        "discoverable": True,
    }
    return Atom(
        atom_id=new_atom_id(),
        text=statement(chance),
        holder_id=holders[number % len(holders)],
        origin="self",
        visibility_json=dump_json(visibility),
        ingested_at=timestamps.now(),
        updated_at=timestamps.now(),
    )
