"""Every face of the store, each as a function that shows one viewer all that face can show, as bytes.

A new way to see anything gets its row in `FACES`; `test_visibility` tries each row with every member of the cast.
"""

import hashlib
import io
import json
import zipfile
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from holders.ask import ask
from holders.audience import audience_of
from holders.models import SignIn, Token
from holders.who_knows import who_knows
from memories import source_files
from memories.browse import get_memory, history, list_memories
from memories.cartridge_files import table
from memories.cartridge_files import write as cartridge_export
from memories.errors import Invalid, NotFound
from memories.models import Atom, Cartridge, CartridgeAtom, Source
from memories.recall import recall
from memories.remember import remember
from memories.visibility import Viewer
from tests.pages import signed_in

MEMBERS = ("mira", "jonas", "lea", "ben", "gus", "cura", "bot", "boiler", "stranger")
HOUSEHOLD = {"mira", "jonas", "lea", "ben", "cura", "bot"}

# word only this memory has → (its sentence, its visibility, who may read it)
MEMORIES = {
    "marmalade": ("The marmalade recipe is inside the red cookbook.", "household", HOUSEHOLD),
    "sapphire": ("The sapphire ring lies in the sewing box.", "private", {"mira"}),
    "trombone": (
        "The trombone lesson moved to the town hall.",
        {"scope": "holders", "holders": ["jonas"], "groups": ["kids"]},
        {"mira", "jonas", "lea"},
    ),
    "telescope": (
        "The telescope for the birthday is hidden in the attic.",
        {"scope": "household", "deny": ["ben"], "discoverable": False},
        HOUSEHOLD - {"ben"},
    ),
    "plumbline": (
        "The plumbline belongs to the neighbours.",
        {"scope": "holders", "groups": ["guests", "services"]},
        {"mira", "gus", "boiler"},
    ),
}


@pytest.fixture
def household(cast):
    """Mira's memories by their word; the store also holds one whose scope nobody knows: hers alone."""
    ids = {
        word: remember(
            cast.mira, text, scenario=f"about-{word}", tags=[f"tag-{word}"], visibility=visibility
        ).atom_id
        for word, (text, visibility, _) in MEMORIES.items()
    }
    closed = remember(cast.mira, "The obelisk stands behind the shed.", visibility="private")
    Atom.objects.filter(atom_id=closed.atom_id).update(visibility_json='{"scope": "everybody"}')
    return ids | {"obelisk": closed.atom_id}


READERS = {word: readers for word, (_, _, readers) in MEMORIES.items()} | {"obelisk": {"mira"}}


def by_list(viewer: Viewer, ids: dict[str, str]) -> bytes:
    return repr(list_memories(viewer, current=False, limit=200)).encode()


def by_word(viewer: Viewer, ids: dict[str, str]) -> bytes:
    return repr([list_memories(viewer, q=word).items for word in ids]).encode()


def by_id(viewer: Viewer, ids: dict[str, str]) -> bytes:
    seen = []
    for atom_id in ids.values():
        try:
            seen += [get_memory(viewer, atom_id), history(viewer, atom_id)]
        except NotFound as refusal:
            seen.append(str(refusal))
    return repr(seen).encode()


def by_recall(viewer: Viewer, ids: dict[str, str]) -> bytes:
    return repr([recall(viewer, f"Where is the {word}?").hits for word in ids]).encode()


def by_asking(viewer: Viewer, ids: dict[str, str]) -> bytes:
    replies = [ask(viewer, f"Where is the {word}?") for word in ids]
    return repr([(one.status, one.answers, one.referrals, one.visited) for one in replies]).encode()


def by_who_knows(viewer: Viewer, ids: dict[str, str]) -> bytes:
    return repr([who_knows(viewer, f"Where is the {word}?").holders for word in ids]).encode()


def by_api(viewer: Viewer, ids: dict[str, str]) -> bytes:
    _, plain = Token.objects.issue(viewer.holder_id, ["read", "write", "ask"])
    browser = Client(headers={"authorization": f"Bearer {plain}"})
    seen = [
        browser.get("/api/memories?limit=200&current=false"),
        browser.get("/api/holders"),
        browser.get("/api/me"),
    ]
    for word, atom_id in ids.items():
        seen += [
            browser.get(f"/api/memories/{atom_id}"),
            browser.get("/api/memories", {"q": word[:4]}),
            browser.get("/api/recall", {"q": f"where is it {word[:-1]}"}),
            browser.post("/api/ask", {"question": "Where is it kept?"}, content_type="application/json"),
        ]
    return b"".join(repr(reply.headers).encode() + reply.content for reply in seen)


def by_command(viewer: Viewer, ids: dict[str, str]) -> bytes:
    out = io.StringIO()
    for command in (["recall"], ["ask"], ["who-knows"]):
        for flags in ([], ["--json"]):
            try:
                call_command(
                    *command, "Where is it kept?", "--as", viewer.holder_id, *flags, stdout=out, stderr=out
                )
            except (SystemExit, CommandError):
                pass
    return out.getvalue().encode()


def by_cartridge(viewer: Viewer, ids: dict[str, str]) -> bytes:
    """A cartridge of the viewer's own that somehow holds everything, previewed and written for each audience."""
    cartridge = Cartridge.objects.create(name="All", owner_id=viewer.holder_id)
    CartridgeAtom.objects.bulk_create(CartridgeAtom(cartridge=cartridge, atom_id=one) for one in ids.values())
    seen = []
    for audience in ("me", "outside", "household", "group:adults"):
        chosen, out = audience_of(audience), io.BytesIO()
        seen.append(repr(cartridge_export.preview(viewer, cartridge.pk, chosen)))
        try:
            cartridge_export.write_cartridge(viewer, cartridge.pk, chosen, out)
        except Invalid as refusal:
            seen.append(str(refusal))
            continue
        with zipfile.ZipFile(out) as packed:
            seen += [
                repr(list(table.read_rows(packed.read("atoms.parquet")))),
                packed.read("manifest.json").decode(),
            ]
    return "".join(seen).encode()


def by_pages_around_memories(viewer: Viewer, ids: dict[str, str]) -> bytes:
    """Inbox, situations, who sees what, other eyes, bundles, me; each memory's own pages; each step that names one."""
    browser = signed_in(viewer.holder_id)
    seen = [
        browser.get(reverse(page))
        for page in ("inbox", "me", "leave", "scenarios", "visibility", "change-visibility", "cartridges")
    ]
    for other in MEMBERS:
        address = reverse("view-as", args=[other])
        seen += [browser.get(address), browser.get(address, {"q": "Where is it kept?"})]
    made = browser.post(reverse("make-cartridge"), {"name": "All", "atom": list(ids.values())})
    seen += [browser.get(made.url), browser.get(made.url, {"q": "the"}), browser.get(f"{made.url}file/")]
    readers = {"atom": list(ids.values()), "readers": "holders", "named": ["holder:gus"]}
    seen.append(browser.post(reverse("change-visibility"), readers))
    for word, atom_id in ids.items():
        seen += [
            browser.get(reverse("memory-readers", args=[atom_id])),
            browser.get(reverse("question", args=[atom_id])),
            browser.post(reverse("merge-scenarios"), {"name": [f"about-{word}"], "into": "x"}),
        ]
    copy = b"".join(browser.get(reverse("me-copy")).streaming_content)
    return b"".join(one.content for one in seen) + copy


def by_api_around_memories(viewer: Viewer, ids: dict[str, str]) -> bytes:
    _, plain = Token.objects.issue(viewer.holder_id, ["read", "write", "ask"])
    browser = Client(headers={"authorization": f"Bearer {plain}"})
    made = browser.post(
        "/api/cartridges", {"name": "All", "atom_ids": list(ids.values())}, content_type="application/json"
    )
    cartridge = made.json()["cartridge_id"]
    calls = [
        "inbox",
        "questions",
        "scenarios",
        "edges",
        "cartridges",
        f"recall?q=where&cartridge={cartridge}",
        *(f"cartridges/{cartridge}/export?audience={one}" for one in ("me", "outside", "household")),
    ]
    seen = [made, *(browser.get(f"/api/{call}") for call in calls)]
    for word, atom_id in ids.items():
        merge = {"names": [f"about-{word}"], "into": "x"}
        seen += [
            browser.get(f"/api/questions/{atom_id}"),
            browser.get("/api/edges", {"atom_id": atom_id}),
            browser.post("/api/scenarios/merge", merge, content_type="application/json"),
        ]
    return b"".join(repr(reply.headers).encode() + reply.content for reply in seen)


def by_admin(viewer: Viewer, ids: dict[str, str]) -> bytes:
    """A staff account of a superuser: that opens nothing, unless the holder is a curator."""
    user = get_user_model().objects.create_user("staff", is_staff=True, is_superuser=True)
    SignIn.objects.create(user=user, holder_id=viewer.holder_id)
    browser = Client()
    browser.force_login(user)
    source = a_file(ids)
    Atom.objects.filter(atom_id__in=ids.values()).update(source_ref=source)
    cartridge = Cartridge.objects.create(name="All", owner_id=viewer.holder_id)
    CartridgeAtom.objects.bulk_create(CartridgeAtom(cartridge=cartridge, atom_id=one) for one in ids.values())
    lists = ["", "memories/atom/", "memories/scenario/", "holders/holder/", "memories/evidenceedge/"]
    lists += ["memories/source/", f"memories/source/{source.pk}/change/", "memories/cartridge/"]
    lists += [f"memories/cartridge/{cartridge.pk}/change/", f"memories/atom/?cartridge={cartridge.pk}"]
    ticked = {"action": "close", "_selected_action": list(ids.values())}
    posts = [
        browser.post("/admin/memories/atom/", {"action": "close", "whole": "1"}, follow=True),
        browser.post("/admin/memories/atom/bulk/", ticked, follow=True),
    ]
    posts.append(browser.post("/admin/examine/", follow=True))
    lists += [
        f"memories/atom/{atom_id}/{page}/"
        for atom_id in ids.values()
        for page in ("change", "delete", "history")
    ]
    seen = [*posts, *(browser.get(f"/admin/{one}", follow=True) for one in lists)]
    return b"".join(one.content for one in seen)


def a_file(ids: dict[str, str], *words: str) -> Source:
    """Mira's upload that says what these memories say, all of them when none is named."""
    texts = Atom.objects.filter(atom_id__in=[ids[one] for one in words or ids]).values_list("text", flat=True)
    content = "\n".join(texts).encode()
    sha256 = hashlib.sha256(content).hexdigest()
    for ending in ("", source_files.PREVIEW):
        place = source_files.path_of(sha256)
        place.parent.mkdir(exist_ok=True)
        place.with_name(place.name + ending).write_bytes(content)
    return Source.objects.create(
        path=f"about-{'-'.join(words)}.txt", kind="text", mime="text/plain", sha256=sha256, size_bytes=1,
        metadata_json=json.dumps({"uploaded_by": "mira"}),
    )  # fmt: skip


def by_files(viewer: Viewer, ids: dict[str, str]) -> bytes:
    """Files that hold one hidden memory each, and one that holds all; over pages, JSON and the command."""
    browser = signed_in(viewer.holder_id)
    _, plain = Token.objects.issue(viewer.holder_id, ["read"])
    api = Client(headers={"authorization": f"Bearer {plain}"})
    seen = [browser.get(reverse("sources")), api.get("/api/sources")]
    for word, atom_id in ids.items():
        source = a_file(ids, word)
        Atom.objects.filter(atom_id=atom_id).update(source_ref=source)
        pages = ("source", "source-file", "source-preview")
        seen += [browser.get(reverse(page, args=[source.pk])) for page in pages]
        seen += [api.get(f"/api/sources/{source.pk}{part}") for part in ("", "/file", "/preview")]
    everything = a_file(ids)  # whatever else it held has moved on to another version
    Atom.objects.filter(atom_id=ids["marmalade"]).update(source_ref=everything)
    source_files.note_lost({everything.pk: len(ids) - 1})
    seen += [api.get(f"/api/sources/{everything.pk}{part}") for part in ("", "/file", "/preview")]
    seen += [browser.get(reverse("sources")), api.get("/api/sources")]
    out = io.StringIO()
    try:
        call_command("sources", "--as", viewer.holder_id, stdout=out, stderr=out)
    except CommandError:
        pass
    return b"".join(map(body_of, seen)) + out.getvalue().encode()


def body_of(reply: Any) -> bytes:
    """What a reply says, also where it is a file."""
    return b"".join(reply.streaming_content) if reply.streaming else reply.content


def by_bringing_in(viewer: Viewer, ids: dict[str, str]) -> bytes:
    """A file that names everybody's ids and hidden memories' ids, looked at and taken, as every one of the cast."""
    browser = signed_in(viewer.holder_id)
    lines = [
        json.dumps({"text": f"Nothing of note, {n}.", "atom_id": one, "holder_id": "mira", "replaces": [one]})
        for n, one in enumerate(ids.values())
    ]
    page = browser.post(
        reverse("bring-in"), {"file": SimpleUploadedFile("x.jsonl", "\n".join(lines).encode())}
    ).url
    choices = {"name": ["mira"], "who": ["mira"], "readers": "household"}
    seen = [
        browser.get(page),
        browser.post(page, choices | {"action": "look"}),
        browser.post(page, choices | {"action": "take"}),
        browser.get(reverse("bring-in")),
    ]
    return b"".join(one.content for one in seen)


FACES = {
    "files": by_files,
    "bringing_in": by_bringing_in,
    "admin": by_admin,
    "list": by_list,
    "word": by_word,
    "id": by_id,
    "recall": by_recall,
    "ask": by_asking,
    "who_knows": by_who_knows,
    "api": by_api,
    "command": by_command,
    "pages_around": by_pages_around_memories,
    "api_around": by_api_around_memories,
    "cartridge": by_cartridge,
}

# Faces on which every readable memory must appear.
SHOWS_EVERYTHING = {"list", "word", "id", "recall", "api", "cartridge", "files"}
