"""The curators' admin: scenarios, files, cartridges, edges, the logs, the front page."""

import re

from django.db import connection
from django.urls import reverse

from memories.browse import get_memory
from memories.models import (
    Atom,
    AuditEntry,
    CacheEvent,
    Cartridge,
    CartridgeAtom,
    EvidenceEdge,
    Mount,
    Scenario,
    Source,
)
from memories.remember import remember
from tests.curators import ATOMS, HOLDERS, SECRET, curators, enter, hidden, submit  # noqa: F401
from tests.pages import keep, text_of


def test_a_scenario_gets_its_default_readers_without_json(curators, cast):
    curators.post(
        "/admin/memories/scenario/add/",
        {"name": "school", "description": "d", "usual": "groups", "groups": "adults"},
    )
    stored = Scenario.objects.get()
    assert '"groups": ["adults"]' in stored.default_visibility_json
    assert (
        submit(
            curators, f"/admin/memories/scenario/{stored.pk}/change/", usual="groups", groups=""
        ).status_code
        == 200
    )
    page = text_of(curators.get(f"/admin/memories/scenario/{stored.pk}/change/"))
    assert 'value="adults"' in page


def test_a_scenario_is_renamed_after_a_look_at_what_moves(curators, cast):
    memory, secret = (
        keep(cast.mira, "Bring boots.", scenario="scool"),
        remember(cast.mira, SECRET, scenario="scool"),
    )
    scenario = Scenario.objects.create(name="scool")
    address = f"/admin/memories/scenario/{scenario.pk}/move/"
    assert "Bring boots." in text_of(curators.post(address, {"into": "school"}))
    assert get_memory(cast.mira, memory.atom_id).scenario == "scool"
    assert curators.post(address, {"into": "x" * 201}).status_code == 422
    curators.post(address, {"into": "school", "agreed": "1"})
    assert get_memory(cast.mira, memory.atom_id).scenario == "school"
    assert get_memory(cast.mira, secret.atom_id).scenario == "scool"


def test_a_scenario_that_memories_use_is_described_in_one_click(curators, cast, hidden):
    keep(cast.mira, "The ladder hangs in the shed.", scenario="helth")
    assert "helth" in text_of(curators.get("/admin/memories/scenario/"))
    reply = curators.post("/admin/memories/scenario/describe/", {"name": "helth"})
    assert reply.url == reverse("admin:memories_scenario_change", args=[Scenario.objects.get().pk])
    page = text_of(curators.get(reply.url.replace("change/", "move/")))
    assert "hidden-scenario" not in page
    assert curators.post("/admin/memories/scenario/describe/", {"name": "hidden-scenario"}).status_code == 404
    assert Scenario.objects.count() == 1


def test_moments_are_shown_in_the_curators_zone_and_words(curators, cast):
    AuditEntry.objects.create(
        at="2026-07-19T10:05:00.000+00:00", action="prune", holder_id="cura", by="cura", count=3
    )
    page = text_of(curators.get("/admin/memories/auditentry/"))
    assert re.search(r"July 19, 2026, \d+:05 [ap].m.", page)
    entry = AuditEntry.objects.get()
    assert "July 19, 2026" in text_of(curators.get(f"/admin/memories/auditentry/{entry.pk}/change/"))


def test_the_audit_log_is_of_her_own_removals(curators, cast):
    AuditEntry.objects.create(action="pruned", holder_id="cura", by="", count=3)
    AuditEntry.objects.create(action="pruned", holder_id="mira", by="", count=77_777)
    page = text_of(curators.get("/admin/memories/auditentry/"))
    assert "pruned" in page
    assert "77777" not in page


def test_sources_and_cartridges_show_what_is_in_them(curators, cast):
    memory = keep(cast.mira, "Press the red button for ten seconds.")
    source = Source.objects.create(
        path="manual.pdf", kind="pdf", mime="application/pdf", sha256="1" * 64, size_bytes=1
    )
    Atom.objects.filter(atom_id=memory.atom_id).update(source_ref=source)
    cartridge = Cartridge.objects.create(name="Boiler", owner_id="cura")
    CartridgeAtom.objects.create(cartridge=cartridge, atom_id=memory.atom_id)
    Mount.objects.create(holder_id="lea", cartridge=cartridge)
    assert "Press the red button" in text_of(curators.get(f"/admin/memories/source/{source.pk}/change/"))
    page = text_of(curators.get(f"/admin/memories/cartridge/{cartridge.pk}/change/"))
    assert "Press the red button" in page
    assert "lea" in page


def test_an_edge_shows_only_with_both_its_ends(curators, cast):
    one, two = keep(cast.mira, "The key is blue."), keep(cast.mira, "The key is not red.")
    EvidenceEdge.objects.create(from_atom_id=one.atom_id, to_atom_id=two.atom_id, relation="supports")
    page = text_of(curators.get("/admin/memories/evidenceedge/"))
    assert one.atom_id in page
    assert two.atom_id in page


def test_the_cache_tells_its_hit_rate_by_layer_and_day(curators, cast):
    for event, count in (("hit", 3), ("miss", 1)):
        CacheEvent.objects.create(
            ts="2026-07-19T10:00:00.000+00:00", layer="embedding.query", cache_key="", event=event, bytes_estimate=1,
            metadata_json=f'{{"count": {count}}}',
        )  # fmt: skip
    page = text_of(curators.get("/admin/memories/cacheevent/"))
    assert re.search(r"2026-07-19</td><td>embedding.query</td><td>3</td><td>1</td><td>75 %", page)


def test_the_front_page_charts_what_she_may_read(curators, cast):
    keep(cast.mira, "The key is blue.", scenario="house")
    remember(cast.mira, SECRET, visibility="private", scenario="hidden-scenario")
    reply = curators.get("/admin/")
    page = text_of(reply)
    assert "<svg" in page
    assert "style=" not in page.split("<main")[1].split("</main")[0]
    assert "hidden-scenario" not in page
    assert reply.context["figures"].states == (("current", 1),)


def test_the_doctors_findings_name_no_hidden_memory(curators, cast):
    hidden_one, seen = remember(cast.mira, SECRET, visibility="private"), keep(cast.mira, "The key is blue.")
    assert "nothing is missing" in text_of(curators.post("/admin/examine/"))
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM atom_vec")
    page = text_of(curators.post("/admin/examine/"))
    assert "Some memories have no vector." in page
    assert seen.atom_id in page
    assert hidden_one.atom_id not in page


def test_every_page_keeps_to_the_content_security_policy(curators, cast):
    memory = keep(cast.cura, "The key is blue.")
    addresses = [
        "/admin/",
        ATOMS,
        f"{ATOMS}add/",
        f"{ATOMS}{memory.atom_id}/change/",
        HOLDERS,
        f"{HOLDERS}lea/change/",
    ]
    for address in addresses:
        reply = curators.get(address)
        assert "default-src 'self'" in reply["Content-Security-Policy"]
        assert "no-store" in reply["Cache-Control"]
        assert not re.search(r"<script(?![^>]*src=)[^>]*>|<style|\sstyle=\"|\son\w+=\"", text_of(reply)), (
            address
        )
