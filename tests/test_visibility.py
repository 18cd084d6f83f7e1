"""Every face × every member of the cast: a memory's words reach those who may read it, and nobody else.

A new way to see anything gets its row in `FACES`. Each row shows one viewer all that face can show, as bytes.
"""

import hashlib
import io
import json
import logging
import zipfile
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import connection
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
from memories.text import index_text
from memories.visibility import Viewer

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


def a_browser(viewer: Viewer) -> Client:
    """A browser in which this viewer is signed in."""
    user = get_user_model().objects.create_user(f"as-{viewer.holder_id}")
    SignIn.objects.create(user=user, holder_id=viewer.holder_id)
    browser = Client()
    browser.force_login(user)
    return browser


def by_pages_around_memories(viewer: Viewer, ids: dict[str, str]) -> bytes:
    """Inbox, situations, who sees what, other eyes, bundles, me; each memory's own pages; each step that names one."""
    browser = a_browser(viewer)
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
    browser = a_browser(viewer)
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
    browser = a_browser(viewer)
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
SHOWS_EVERYTHING = {
    "list",
    "word",
    "id",
    "recall",
    "api",
    "cartridge",
    "files",
}  # faces on which every readable memory must appear


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("member", MEMBERS)
def test_a_memory_reaches_those_who_may_read_it_and_nobody_else(household, cast, face, member, caplog):
    caplog.set_level(logging.DEBUG, logger="memories")
    caplog.set_level(logging.DEBUG, logger="holders")

    shown = FACES[face](cast.viewer(member), household)

    for word, readers in READERS.items():
        sentence = Atom.objects.get(atom_id=household[word]).text.encode()
        if member not in readers:
            assert sentence not in shown
            assert f"about-{word}".encode() not in shown
            assert f"tag-{word}".encode() not in shown
        elif face in SHOWS_EVERYTHING:
            assert sentence in shown
    assert not any(MEMORIES["sapphire"][0] in record.getMessage() for record in caplog.records)


@pytest.mark.parametrize(
    "url", ["/", "/admin/", "/api/memories", "/api/recall?q=x", "/api/holders", "/api/me"]
)
def test_nobody_signed_in_sees_nothing(household, client, url):
    reply = client.get(url, follow=True)

    assert reply.status_code in (200, 401, 403)
    for word in READERS:
        assert word.encode() not in reply.content


def test_no_viewer_and_an_empty_id_read_nothing(household):
    assert not Atom.objects.visible_to(None).exists()
    assert not Atom.objects.visible_to(Viewer("")).exists()


def test_a_holder_whose_id_begins_like_anothers_is_somebody_else(cast):
    remember(Viewer("ann"), "Ann hid the chocolate.", visibility="private")
    shared = {"scope": "holders", "holders": ["ann"]}
    remember(cast.mira, "For Ann alone.", visibility=shared)

    assert Atom.objects.visible_to(Viewer("ann")).count() == 2
    for other in ("ann1", "an", "Ann", "ann "):
        assert not Atom.objects.visible_to(Viewer(other)).exists()


def test_an_unregistered_viewer_has_no_groups_and_reads_no_household_memory(household, cast):
    assert cast.stranger.groups == frozenset()
    assert not Atom.objects.visible_to(cast.stranger).exists()


def test_who_wrote_a_memory_down_reads_it_unless_denied(cast):
    mine = remember(cast.jonas, "Grandma takes half a pill.", holder_id="mira", visibility="private")
    assert get_memory(cast.jonas, mine.atom_id).text == "Grandma takes half a pill."

    Atom.objects.update(visibility_json='{"scope": "private", "deny": ["jonas"]}')
    with pytest.raises(NotFound):
        get_memory(cast.jonas, mine.atom_id)
    assert get_memory(cast.mira, mine.atom_id)


def test_an_agent_acting_for_a_person_reads_what_both_may(household, cast):
    acting = Viewer("bot", "agent", frozenset({"agents"}), acting_for=cast.mira)

    readable = set(Atom.objects.visible_to(acting).values_list("atom_id", flat=True))

    assert readable == {household["marmalade"], household["telescope"]}


@pytest.mark.parametrize(
    "stored",
    [
        '{"scope": "everyone"}',
        '{"scope": ["household"]}',
        '{"holders": ["jonas"]}',
        '{"scope": "holders", "holders": "jonas"}',
        '{"scope": "holders", "holders": {"0": "jonas"}}',
        '{"scope": "household", "deny": "ben"}',
        '{"scope": null}',
    ],
)
def test_unknown_visibility_fails_closed(cast, stored):
    memory = remember(cast.mira, "Nobody else may read this.")
    Atom.objects.update(visibility_json=stored)

    assert get_memory(cast.mira, memory.atom_id)
    for member in set(MEMBERS) - {"mira"}:
        assert not Atom.objects.visible_to(cast.viewer(member)).exists()
        assert not Atom.objects.hinting_to(cast.viewer(member)).exists()


def test_an_upgraded_row_without_visibility_reads_as_household(cast):
    remember(cast.mira, "An old row.")
    Atom.objects.update(visibility_json="{}")

    assert {one for one in MEMBERS if Atom.objects.visible_to(cast.viewer(one)).exists()} == HOUSEHOLD


def test_a_row_of_no_holder_is_nobodys_own(cast):
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO atoms (atom_id, ingested_at, updated_at, text, visibility_json) VALUES "
            "('a', '2026-01-01T00:00:00.000+00:00', '2026-01-01T00:00:00.000+00:00', 'orphan', '{\"scope\": \"private\"}')"
        )
    assert not any(Atom.objects.visible_to(cast.viewer(one)).exists() for one in MEMBERS)


def test_unknown_and_unreadable_ids_answer_alike(household, cast):
    def refusal(atom_id: str) -> str:
        with pytest.raises(NotFound) as caught:
            get_memory(cast.ben, atom_id)
        return repr(caught.value)

    assert refusal(household["sapphire"]) == refusal("f" * 16)


def test_a_private_sentence_appears_nowhere_in_anothers_ask(cast, caplog, client):
    caplog.set_level(logging.DEBUG)
    secret = "The clinic confirmed the appointment with Doctor Vogel for the twins."
    remember(cast.mira, secret, visibility="private")
    _, plain = Token.objects.issue("jonas", ["ask"])

    reply = client.post(
        "/api/ask",
        {"question": "Who knows about the appointment with Doctor Vogel at the clinic?"},
        content_type="application/json",
        headers={"authorization": f"Bearer {plain}"},
    )

    body = reply.json()
    assert body["status"] == "referred"
    assert body["referrals"][0]["holder_id"] == "mira"
    assert body["referrals"][0]["contact"]["phone"]
    everything = (
        reply.content + repr(reply.headers).encode() + repr([r.getMessage() for r in caplog.records]).encode()
    )
    for piece in ("clinic confirmed", "twins", "Vogel for"):
        assert piece.encode() not in everything


DIGITS = [
    "7741",
    "What is 7741?",
    "safe code 7741",
    "７７４１",
    "DE123999",
    "DE12",
    "code DE123999 safe",
    "一二三四",
]


@pytest.mark.parametrize("probe", DIGITS)
def test_probing_digits_gives_the_same_bytes_whether_or_not_a_hidden_memory_holds_them(cast, probe):
    remember(cast.jonas, "The bins go out on Tuesday.", visibility="household")
    secret = remember(cast.mira, "The number is 7741 or DE123999 or 一二三四.", visibility="private")

    def shown() -> bytes:
        return b"|".join(
            repr(one).encode()
            for one in (recall(cast.jonas, probe), who_knows(cast.jonas, probe), ask(cast.jonas, probe))
        )

    with_secret = shown()
    Atom.objects.filter(atom_id=secret.atom_id).delete()
    assert shown() == with_secret


@pytest.mark.parametrize("probe", ["saph", "sapphir", "sapphires", "ring sap", "Sapphi re"])
def test_a_part_of_a_hidden_word_meets_nothing_by_its_letters(cast, probe):
    secret = remember(cast.mira, "qqq sapphire zzz", visibility="private")
    before = repr(who_knows(cast.jonas, probe))
    Atom.objects.filter(atom_id=secret.atom_id).delete()

    assert repr(who_knows(cast.jonas, probe)) == before


def test_recall_counts_only_what_its_viewer_may_read(cast):
    """Scores of a readable memory stay the same to the last bit, however many hidden ones share its words."""
    remember(cast.jonas, "The garden hose is in the shed.", visibility="household")
    remember(cast.jonas, "The ladder is in the cellar.", visibility="household")
    alone = repr(recall(cast.jonas, "Where is the garden hose?"))

    for number in range(30):
        remember(cast.mira, f"The garden hose number {number} is broken.", visibility="private")

    assert repr(recall(cast.jonas, "Where is the garden hose?")) == alone


def test_a_surprise_is_known_by_nobody(cast):
    remember(
        cast.mira,
        "The surprise party for Jonas is at the lake.",
        visibility={"scope": "private", "discoverable": False},
    )
    denied = {"scope": "holders", "holders": ["lea"], "deny": ["jonas"]}
    remember(cast.mira, "The surprise cake for Jonas has three layers.", visibility=denied)

    assert who_knows(cast.jonas, "Is there a surprise party for Jonas at the lake?").holders == ()
    assert ask(cast.jonas, "Who bakes the surprise cake with three layers?").status == "no_holder_knows"


def test_what_somebody_else_wrote_down_does_not_count_as_her_knowledge(cast):
    remember(cast.ben, "Mira knows where the passport is kept.", holder_id="mira", visibility="private")

    assert "mira" not in [
        one.holder_id for one in who_knows(cast.jonas, "Where is the passport kept?").holders
    ]


def test_a_signed_in_account_without_a_holder_sees_nothing(household, django_user_model, client):
    client.force_login(django_user_model.objects.create_user("nobody", password="x" * 12))

    assert client.get("/api/memories").status_code in (401, 403)
    assert not SignIn.objects.exists()


def test_other_peoples_lists_of_readers_stay_theirs(household, cast):
    memory = get_memory(cast.jonas, household["telescope"])

    assert memory.visibility == {"scope": "household"}
    assert get_memory(cast.mira, household["telescope"]).visibility["deny"] == ["ben"]


def test_superseded_ids_show_only_to_those_who_may_read_them(cast):
    old = remember(cast.mira, "The code was green.", visibility="private")
    new = remember(cast.mira, "The code is blue.", visibility="household", replaces=[old.atom_id])

    assert get_memory(cast.mira, new.atom_id).supersedes == (old.atom_id,)
    assert get_memory(cast.jonas, new.atom_id).supersedes == ()
    assert [one.atom_id for one in history(cast.jonas, new.atom_id)] == [new.atom_id]


def test_the_index_holds_no_word_of_a_password_that_an_outsider_could_meet():
    assert "horse" not in index_text("correct-horse-battery").split()


def test_json_replies_are_never_kept_by_a_cache(household, cast, client):
    _, plain = Token.objects.issue("mira", ["read"])
    reply = client.get("/api/memories", headers={"authorization": f"Bearer {plain}"})

    assert "no-store" in reply.headers["Cache-Control"]
    assert json.loads(reply.content)["items"]


@pytest.mark.parametrize("name", ['o"hara', "back\\slash", "jürgen", "奶奶", "percent%s", "tab-free 'quote'"])
def test_a_name_is_met_however_json_spells_it(cast, name):
    memory = remember(cast.mira, "For one reader.", visibility={"scope": "holders", "holders": [name]})
    spelt = json.dumps({"scope": "holders", "holders": [name], "deny": []}, ensure_ascii=True)

    assert Atom.objects.visible_to(Viewer(name)).count() == 1
    Atom.objects.filter(atom_id=memory.atom_id).update(visibility_json=spelt)
    assert Atom.objects.visible_to(Viewer(name)).count() == 1
    denied = json.dumps({"scope": "holders", "holders": [name], "deny": [name]}, ensure_ascii=True)
    Atom.objects.filter(atom_id=memory.atom_id).update(visibility_json=denied)
    assert not Atom.objects.visible_to(Viewer(name)).exists()


def test_escapes_do_not_hide_a_name_from_a_denial(cast):
    remember(cast.mira, "Not for Ben.", visibility="household")
    Atom.objects.update(visibility_json='{"scope": "household", "deny": ["\\u0062en"]}')

    assert not Atom.objects.visible_to(cast.ben).exists()
    assert Atom.objects.visible_to(cast.jonas).exists()
