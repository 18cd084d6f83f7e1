"""Two holder ids that turn out to be one: the host merges them, and nobody reads more than before but the one."""

import io
import json
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import connection

from holders.merge import COLUMNS, merge_holders
from holders.models import Holder, Question, SignIn, Token
from memories.browse import get_memory, list_memories
from memories.errors import Conflict, Invalid, NotFound
from memories.models import Atom, Cartridge, CartridgeShare, Mount, Scenario
from memories.remember import remember
from rekal_site.management.base import CommandExit


@pytest.fixture
def mum(cast: Any) -> Any:
    """Mira under another id, with something of everything."""
    from holders.auth import viewer_for

    viewer = viewer_for("mum")
    Holder.objects.create(
        holder_id="mum", name="Mum", knows_about_json='["cake"]', contact_json='{"chat": "mum", "phone": "1"}'
    )
    remember(viewer, "The cake tin is under the stairs.", visibility="private")
    remember(cast.jonas, "For Mum alone.", visibility={"scope": "holders", "holders": ["mum"]})
    remember(cast.jonas, "A surprise for Mum.", visibility={"scope": "household", "deny": ["mum"]})
    remember(viewer, "Mira is allergic to nuts.", holder_id="mira", visibility="private")
    cartridge = Cartridge.objects.create(name="Cakes", owner_id="mum")
    CartridgeShare.objects.create(cartridge=cartridge, reader="holder:mum")
    for holder in ("mum", "mira"):
        Mount.objects.create(holder_id=holder, cartridge=cartridge)
    Scenario.objects.create(name="cakes", default_visibility_json='{"scope": "holders", "holders": ["mum"]}')
    Token.objects.issue("bot", ["read"], acting_for="mum")
    Question.objects.create(
        question_id="q", asker_id="jonas", to_holder="mum", passed_json='[{"by": "mum", "to": "lea"}]'
    )
    return viewer


def everything() -> list[Any]:
    rows = []
    with connection.cursor() as cursor:
        for table in {table for table, _ in COLUMNS} | {"holders", "scenarios", "cartridge_shares"}:
            cursor.execute(f"SELECT * FROM {table} ORDER BY 1")
            rows.append((table, cursor.fetchall()))
    return rows


def test_a_dry_run_says_what_would_change_and_changes_nothing(mum):
    before = everything()
    result = merge_holders("mum", "mira")
    assert result.dry_run
    assert result.rows["atoms.holder_id"] == 1
    assert result.rows["atoms.visibility_json"] == 2
    assert everything() == before


def test_everything_of_the_one_is_the_others(mum, cast):
    merge_holders("mum", "mira", dry_run=False)
    assert '"mum"' not in repr(everything()).replace("'mum'", '"mum"').replace('"chat": "mum"', "")
    texts = {one.text for one in list_memories(cast.mira).items}
    assert texts == {"The cake tin is under the stairs.", "For Mum alone.", "Mira is allergic to nuts."}
    own = Atom.objects.get(text="Mira is allergic to nuts.")
    assert (own.recorded_by, own.origin) == ("", "self")
    assert Mount.objects.get().holder_id == "mira"
    assert Question.objects.get().passed == [{"by": "mira", "to": "lea"}]


def test_who_kept_something_from_the_one_keeps_it_from_the_other(mum, cast):
    merge_holders("mum", "mira", dry_run=False)
    assert "A surprise for Mum." not in {one.text for one in list_memories(cast.mira).items}


def test_nobody_else_reads_more_or_less(mum, cast):
    def readable() -> dict[str, set[str]]:
        return {
            name: {one.text for one in list_memories(cast.viewer(name)).items}
            for name in ("jonas", "lea", "ben", "cura", "bot")
        }

    before = readable()
    merge_holders("mum", "mira", dry_run=False)
    assert readable() == before


def test_the_record_that_stays_wins_and_topics_are_united(mum):
    Holder.objects.filter(pk="mira").update(knows_about_json='["keys"]')
    merge_holders("mum", "mira", dry_run=False)
    mira = Holder.objects.get(pk="mira")
    assert (mira.name, mira.topics, mira.groups) == ("Mira", ["keys", "cake"], ["adults"])
    assert (mira.contact["phone"], mira.contact["chat"]) == ("+49 30 5550100", "mum")
    assert not Holder.objects.filter(pk="mum").exists()


def test_the_index_and_the_vectors_stay_true(mum, cast):
    from memories.doctor import diagnose

    merge_holders("mum", "mira", dry_run=False)
    assert [
        one.id for one in diagnose() if one.id.startswith(("index", "vector", "not-indexed", "atoms"))
    ] == []
    found = list_memories(cast.mira, q="cake").items
    assert get_memory(cast.mira, found[0].atom_id).holder_id == "mira"


@pytest.mark.parametrize(
    ("one", "other", "refusal"),
    [("mira", "mira", Invalid), ("nobody", "mira", NotFound), ("a b", "mira", Invalid)],
)
def test_what_cannot_be_merged_is_refused(cast, one, other, refusal):
    with pytest.raises(refusal):
        merge_holders(one, other)


def test_two_accounts_are_not_merged(mum):
    for name in ("mum", "mira"):
        SignIn.objects.create(user=get_user_model().objects.create_user(name), holder_id=name)
    with pytest.raises(Conflict):
        merge_holders("mum", "mira", dry_run=False)


def test_every_column_that_names_a_holder_is_known_to_the_merge(db):
    from django.apps import apps

    names = {"holder_id", "owner_id", "asker_id", "acting_for", "to_holder", "by"}
    found = {
        (model._meta.db_table, field.column)
        for app in ("memories", "holders")
        for model in apps.get_app_config(app).get_models()
        for field in model._meta.get_fields()
        if getattr(field, "column", None) in names
    }
    assert found - {("holders", "holder_id")} == set(COLUMNS)


def test_the_command_is_a_dry_run_until_yes(mum):
    out = io.StringIO()
    call_command("holder-merge", "mum", "mira", "--json", stdout=out)
    assert json.loads(out.getvalue())["dry_run"] is True
    call_command("holder-merge", "mum", "mira", "--yes", stdout=out)
    assert not Holder.objects.filter(pk="mum").exists()
    with pytest.raises(CommandExit):
        call_command("holder-merge", "mum", "mira", stdout=out, stderr=out)
