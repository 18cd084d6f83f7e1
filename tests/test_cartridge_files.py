"""Cartridges as files: only what their audience may read goes out, and nothing they say is believed when they come in."""

import hashlib
import io
import json
import os
import stat
import subprocess
import sys
import zipfile
from dataclasses import replace

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("pyrage")

from django.test import Client

from holders.audience import audience_of
from holders.models import Token
from memories import source_files
from memories.cartridge_files import archive, load, manifest, seal, table, write
from memories.errors import Invalid, NotAllowed, NotFound
from memories.forget import forget
from memories.models import Atom, Cartridge, CartridgeAtom, CartridgeShare, EvidenceEdge, Mount, Source
from memories.recall import recall
from memories.remember import edit, remember
from memories.sources import add_source
from memories.transfer import load as loader
from memories.transfer.identities import Choices
from memories.transfer.records import Record
from memories.visibility import Viewer
from tests.command_line import ROOT, empty_store, kill_once, run, store  # noqa: F401


@pytest.fixture(autouse=True)
def _folder(settings, tmp_path):
    settings.REKAL_DB = tmp_path / "memory.db"


@pytest.fixture
def house(cast):
    """Mira's cartridge of six memories, of which everybody at home may read three."""
    said = {
        "stopcock": remember(cast.mira, "The stopcock is under the sink", visibility="household", scenario="house"),
        "bins": remember(
            cast.mira, "The bins go out on Tuesday", visibility="household", tags=["bins", "week"],
            event_time="2026-07-19", valid_from="2026-07-01",
        ),
        "safe": remember(cast.mira, "The safe is behind the shelf", visibility="private"),
        "present": remember(cast.mira, "Ben gets a kite", visibility={"scope": "household", "deny": ["ben"]}),
        "grown": remember(cast.mira, "The wine is in the cellar", visibility={"scope": "holders", "groups": ["adults"]}),
        "jonas": remember(cast.jonas, "The boiler likes 1.5 bar", visibility="household"),
    }  # fmt: skip
    newer = remember(cast.mira, "The bins go out on Friday", replaces=[said["bins"].atom_id])
    EvidenceEdge.objects.create(
        from_atom_id=said["stopcock"].atom_id,
        to_atom_id=said["jonas"].atom_id,
        relation="supports",
        confidence=0.5,
    )
    EvidenceEdge.objects.create(
        from_atom_id=said["stopcock"].atom_id, to_atom_id=said["safe"].atom_id, relation="cites"
    )
    cartridge = Cartridge.objects.create(name="The house", owner_id="mira")
    for memory in (*said.values(), newer):
        CartridgeAtom.objects.create(cartridge=cartridge, atom_id=memory.atom_id)
    return cartridge


HOUSEHOLD = {"The stopcock is under the sink", "The bins go out on Tuesday", "The bins go out on Friday",
             "The boiler likes 1.5 bar"}  # fmt: skip


@pytest.fixture
def file(house, cast, tmp_path):
    """The cartridge, written for the household."""
    path = tmp_path / "house.rekal"
    write.export_cartridge(cast.mira, house.pk, audience_of("household"), path)
    return path


def texts(path):
    with archive.opened(path) as opened:
        return {row["text"] for row in table.read_rows(opened.read_atoms())}


def test_a_cartridge_file_says_what_it_is(file):
    with zipfile.ZipFile(file) as packed:
        assert packed.namelist() == ["manifest.json", "atoms.parquet"]
        about = json.loads(packed.read("manifest.json"))
        content = packed.read("atoms.parquet")
    assert about["dna"] == hashlib.sha256(b"atoms.parquet" + content).hexdigest()
    assert (about["name"], about["by"], about["audience"]) == ("The house", "mira", "household")
    assert about["counts"] == {"memories": 4, "edges": 2, "sources": 0}
    assert about["schema_version"] == 1
    assert about["token_equivalent"] > 4
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("audience", "expected"),
    [
        ("household", HOUSEHOLD),
        ("me", HOUSEHOLD | {"The safe is behind the shelf", "Ben gets a kite", "The wine is in the cellar"}),
        ("holder:jonas", HOUSEHOLD | {"Ben gets a kite", "The wine is in the cellar"}),
        ("holder:ben", HOUSEHOLD | {"The wine is in the cellar"}),
        ("group:kids", HOUSEHOLD | {"Ben gets a kite"}),
        (
            "outside",
            HOUSEHOLD - {"The boiler likes 1.5 bar"}
            | {"The safe is behind the shelf", "Ben gets a kite", "The wine is in the cellar"},
        ),
    ],
)
def test_only_what_everybody_it_is_for_may_read_goes_in(house, cast, tmp_path, audience, expected):
    path = tmp_path / "out.rekal"
    written = write.export_cartridge(cast.mira, house.pk, audience_of(audience), path)
    assert texts(path) == expected
    assert written.left_out == 7 - len(expected)
    shown = write.preview(cast.mira, house.pk, audience_of(audience))
    assert {one.text for one in shown.memories} == expected
    assert (shown.count, shown.left_out) == (len(expected), 7 - len(expected))
    raw = path.read_bytes()
    assert b"deny" not in raw
    assert b'"ben"' not in raw


@pytest.mark.parametrize("audience", ["group:pirates", "holder:", "everybody", "", "household:x"])
def test_an_audience_of_nobody_is_refused(cast, audience):
    with pytest.raises(Invalid):
        audience_of(audience)


def test_somebody_elses_cartridge_is_not_there(house, cast, tmp_path):
    for viewer in (cast.jonas, cast.cura, cast.stranger):
        with pytest.raises(NotFound):
            write.preview(viewer, house.pk, audience_of("me"))
    with pytest.raises(NotFound):
        write.export_cartridge(cast.mira, "0123456789abcdef", audience_of("me"), tmp_path / "x.rekal")


def test_whom_a_cartridge_is_shared_with_exports_what_she_may_read_of_it(house, cast, tmp_path):
    CartridgeShare.objects.create(cartridge=house, reader="group:kids")
    path = tmp_path / "out.rekal"
    write.export_cartridge(cast.lea, house.pk, audience_of("me"), path)
    assert texts(path) == HOUSEHOLD | {"Ben gets a kite"}
    write.export_cartridge(cast.lea, house.pk, audience_of("holder:ben"), path)
    assert texts(path) == HOUSEHOLD


def test_an_agent_acting_for_somebody_takes_out_what_both_may_read_and_brings_nothing_in(
    house, file, cast, tmp_path
):
    acting = replace(cast.bot, acting_for=cast.mira)
    with pytest.raises(NotFound):
        write.preview(acting, house.pk, audience_of("me"))
    CartridgeShare.objects.create(cartridge=house, reader="group:agents")
    path = tmp_path / "out.rekal"
    write.export_cartridge(acting, house.pk, audience_of("me"), path)
    assert texts(path) == HOUSEHOLD | {"Ben gets a kite"}
    with pytest.raises(NotAllowed):
        load.import_cartridge(acting, file)


def test_a_memory_she_may_not_read_any_more_stays_out_of_her_cartridge(house, cast, tmp_path):
    edit(cast.jonas, Atom.objects.get(text="The boiler likes 1.5 bar").atom_id, visibility="private")
    path = tmp_path / "out.rekal"
    write.export_cartridge(cast.mira, house.pk, audience_of("me"), path)
    assert "The boiler likes 1.5 bar" not in texts(path)
    assert write.preview(cast.mira, house.pk, audience_of("me")).left_out == 0


def test_forgotten_memories_are_in_no_cartridge_made_afterwards(house, cast, tmp_path):
    forget(cast.mira, Atom.objects.get(text="The safe is behind the shelf").atom_id)
    path = tmp_path / "out.rekal"
    write.export_cartridge(cast.mira, house.pk, audience_of("me"), path)
    with zipfile.ZipFile(path) as packed:
        unpacked = b"".join(packed.read(name) for name in packed.namelist())
    assert b"behind the shelf" not in unpacked
    assert "The safe is behind the shelf" not in texts(path)


def test_nothing_for_an_audience_makes_no_file(house, cast, tmp_path):
    for atom in Atom.objects.all():
        Atom.objects.filter(pk=atom.pk).update(visibility_json='{"scope": "private"}')
    path = tmp_path / "out.rekal"
    with pytest.raises(Invalid):
        write.export_cartridge(cast.mira, house.pk, audience_of("household"), path)
    assert list(tmp_path.glob("*.rekal")) == []


# Coming in


def test_what_comes_in_is_set_apart_private_and_a_cartridge(file, cast):
    found = load.import_cartridge(cast.lea, file)
    cartridge = Cartridge.objects.get(pk=found.cartridge_id)
    members = list(Atom.objects.filter(cartridges=cartridge).order_by("pk"))
    assert (found.taken, found.already_here, found.links) == (4, 0, 2)
    assert found.names == {"mira": "theirs:mira", "jonas": "theirs:jonas"}
    assert (cartridge.owner_id, cartridge.name) == ("lea", "The house")
    assert {one.text for one in members} == HOUSEHOLD
    assert {one.holder_id for one in members} == {"theirs:mira", "theirs:jonas"}
    assert {(one.recorded_by, one.audience, one.origin) for one in members} == {
        ("lea", "private", "third_party")
    }
    assert {one.metadata["imported"]["dna"] for one in members} == {cartridge.dna}
    assert members[0].metadata["imported"]["holder"] == "mira"
    new, old = (next(one for one in members if one.text.endswith(day)) for day in ("Friday", "Tuesday"))
    assert new.supersedes == [old.atom_id]
    assert (old.event_time, old.event_time_precision, old.tag_list) == (
        "2026-07-19T00:00:00.000+00:00", "day", ["bins", "week"],
    )  # fmt: skip
    assert old.valid_to == new.valid_from
    assert not set(Atom.objects.exclude(cartridges=cartridge).values_list("atom_id", flat=True)) & {
        one.atom_id for one in members
    }
    assert not Atom.objects.visible_to(cast.mira).filter(cartridges=cartridge).exists()
    assert not Mount.objects.exists()


def test_names_and_readers_can_be_chosen(file, cast):
    choices = Choices({"scope": "holders", "groups": ["kids"]}, {"mira": "mira"})
    found = load.import_cartridge(cast.jonas, file, choices=choices, name="From Mira")
    assert found.name == "From Mira"
    assert found.names == {"mira": "mira", "jonas": "theirs:jonas"}
    atom = Atom.objects.get(cartridges=found.cartridge_id, text="The stopcock is under the sink")
    assert (atom.holder_id, atom.recorded_by, atom.audience) == ("mira", "jonas", "listed")
    assert Atom.objects.visible_to(cast.lea).filter(pk=atom.pk).exists()


def test_a_mounted_cartridge_scopes_its_owners_questions_alone(file, cast):
    remember(cast.lea, "The stopcock of the summer house is in the shed", visibility="household")
    found = load.import_cartridge(cast.lea, file, mount=True)
    assert found.mounted
    hits = recall(cast.lea, "stopcock").hits
    assert [one.memory.holder_id for one in hits if "stopcock" in one.memory.text] == ["theirs:mira"]
    assert {one.memory.holder_id for one in recall(cast.jonas, "stopcock").hits} <= {"mira", "jonas", "lea"}


def test_the_same_file_twice_adds_nothing(file, cast):
    first = load.import_cartridge(cast.lea, file)
    second = load.import_cartridge(cast.lea, file)
    assert (second.taken, second.already_here, second.cartridge_id) == (0, 4, first.cartridge_id)
    assert CartridgeAtom.objects.filter(cartridge=first.cartridge_id).count() == 4


def test_an_import_cut_short_is_made_whole_by_the_next(file, cast, monkeypatch):
    monkeypatch.setattr("memories.transfer.load.BATCH", 2)

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load.import_cartridge(cast.lea, file, progress=stop)
    assert CartridgeAtom.objects.filter(cartridge__owner_id="lea").count() == 2
    found = load.import_cartridge(cast.lea, file)
    assert (found.taken, found.already_here, found.links) == (2, 2, 2)
    assert CartridgeAtom.objects.filter(cartridge=found.cartridge_id).count() == 4


def test_an_import_killed_three_times_loses_nothing_and_doubles_nothing(store, tmp_path):
    lines = 2 * loader.BATCH + 8
    mira, jonas = (Viewer(name, "person", frozenset({"people"})) for name in ("mira", "jonas"))
    loader.load(mira, (Record(n, {"text": f"Box {n}"}) for n in range(lines)))
    cartridge = Cartridge.objects.create(name="Boxes", owner_id="mira")
    CartridgeAtom.objects.bulk_create(
        CartridgeAtom(cartridge=cartridge, atom_id=one.atom_id) for one in Atom.objects.all()
    )
    path = tmp_path / "boxes.rekal"
    write.export_cartridge(mira, cartridge.pk, audience_of("outside"), path)
    brought = Atom.objects.filter(recorded_by="jonas")
    command = [sys.executable, "manage.py", "cartridge-import", str(path), "--as", "jonas"]
    environment = os.environ | {"REKAL_DB": str(store)}
    points = [
        lambda: Cartridge.objects.filter(owner_id="jonas").exists(),
        lambda: brought.count() >= loader.BATCH,
        lambda: brought.count() >= 2 * loader.BATCH,
    ]
    for happened in points:
        kill_once(command, environment, happened)
        assert brought.count() % loader.BATCH == 0 or brought.count() == lines
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert brought.count() == brought.values("text").distinct().count() == lines
    (mine,) = Cartridge.objects.filter(owner_id="jonas")
    assert set(mine.atoms.values_list("pk", flat=True)) == set(brought.values_list("pk", flat=True))
    assert load.remove_imported(jonas, mine.pk).removed == lines


def test_a_dry_run_writes_nothing(file, cast):
    before = Atom.objects.count(), Cartridge.objects.count()
    found = load.import_cartridge(cast.lea, file, choices=Choices(dry_run=True))
    assert (found.taken, found.dry_run, found.cartridge_id) == (4, True, "")
    assert (Atom.objects.count(), Cartridge.objects.count()) == before


def test_an_imported_cartridge_is_removed_whole(file, cast):
    before = set(Atom.objects.values_list("atom_id", flat=True))
    found = load.import_cartridge(cast.lea, file)
    atom = Atom.objects.get(cartridges=found.cartridge_id, text="The stopcock is under the sink")
    edit(cast.lea, atom.atom_id, text="The stopcock is under the bath")
    assert load.remove_imported(cast.lea, found.cartridge_id).removed == 4
    assert set(Atom.objects.values_list("atom_id", flat=True)) == before
    assert Cartridge.objects.filter(owner_id="lea").count() == 0


def test_a_memory_that_lies_in_another_cartridge_too_stays(file, cast):
    found = load.import_cartridge(cast.lea, file)
    mine = Cartridge.objects.create(name="Mine", owner_id="lea")
    kept = Atom.objects.filter(cartridges=found.cartridge_id).first()
    CartridgeAtom.objects.create(cartridge=mine, atom=kept)
    removed = load.remove_imported(cast.lea, found.cartridge_id)
    assert (removed.removed, removed.kept) == (3, 1)
    assert Atom.objects.filter(pk=kept.pk).exists()


def test_only_its_owner_removes_it_and_only_when_it_was_imported(file, house, cast):
    found = load.import_cartridge(cast.lea, file)
    with pytest.raises(NotFound):
        load.remove_imported(cast.mira, found.cartridge_id)
    with pytest.raises(Invalid):
        load.remove_imported(cast.mira, house.pk)
    assert Atom.objects.filter(cartridges=house).count() == 7


# A passphrase


def test_a_sealed_cartridge_opens_with_its_passphrase_alone(house, cast, tmp_path):
    path = tmp_path / "house.rekal"
    written = write.export_cartridge(
        cast.mira, house.pk, audience_of("household"), path, passphrase="correct horse"
    )
    assert written.sealed
    assert path.read_bytes().startswith(b"age-encryption.org/v1")
    assert archive.recognises(path, path.read_bytes()[:100])
    for wrong in ("", "wrong horse"):
        with pytest.raises(Invalid) as refusal:
            load.import_cartridge(cast.lea, path, passphrase=wrong)
        assert refusal.value.field == "passphrase"
    damaged = tmp_path / "damaged.rekal"
    damaged.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(Invalid):
        load.import_cartridge(cast.lea, damaged, passphrase="correct horse")
    assert load.import_cartridge(cast.lea, path, passphrase="correct horse").taken == 4


def test_a_short_passphrase_is_refused(house, cast, tmp_path):
    with pytest.raises(Invalid):
        write.export_cartridge(
            cast.mira, house.pk, audience_of("me"), tmp_path / "x.rekal", passphrase="short"
        )


def test_without_the_libraries_a_sentence_says_what_to_install(house, cast, tmp_path, monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(seal, "import_module", missing)
    with pytest.raises(seal.MissingExtra, match=r"rekal\[cartridges\]"):
        write.export_cartridge(cast.mira, house.pk, audience_of("me"), tmp_path / "x.rekal")


# Sources


@pytest.fixture
def manual(cast):
    """A cartridge with a text file of two memories."""
    added = add_source(
        cast.mira, "manual.md", io.BytesIO(b"# Descale\n\nDescale it monthly.\n\n# Water\n\nUse soft water only.\n"),
        visibility="household",
    )  # fmt: skip
    cartridge = Cartridge.objects.create(name="Manual", owner_id="mira")
    for atom in Atom.objects.filter(source_ref=added.source.source_id):
        CartridgeAtom.objects.create(cartridge=cartridge, atom=atom)
    return cartridge


def test_a_source_goes_along_and_its_memories_point_back_to_it(manual, cast, tmp_path):
    path = tmp_path / "manual.rekal"
    written = write.export_cartridge(cast.mira, manual.pk, audience_of("household"), path)
    sha256 = written.manifest.sources[0].sha256
    with zipfile.ZipFile(path) as packed:
        assert f"sources/{sha256}" in packed.namelist()
    found = load.import_cartridge(cast.lea, path)
    assert found.sources == 1
    atoms = list(Atom.objects.filter(cartridges=found.cartridge_id))
    assert {one.source_ref.path for one in atoms} == {"manual.md"}
    assert all(one.source.startswith("manual.md#") for one in atoms)
    assert load.import_cartridge(cast.lea, path).taken == 0
    assert Source.objects.count() == 2
    load.remove_imported(cast.lea, found.cartridge_id)
    assert Source.objects.count() == 1
    assert source_files.path_of(sha256).exists()


def test_a_file_whose_memories_were_here_before_goes_with_its_own_cartridge(manual, cast, tmp_path):
    first, second = tmp_path / "one.rekal", tmp_path / "two.rekal"
    write.export_cartridge(cast.mira, manual.pk, audience_of("me"), first)
    CartridgeAtom.objects.create(cartridge=manual, atom_id=remember(cast.mira, "Also: soft water.").atom_id)
    write.export_cartridge(cast.mira, manual.pk, audience_of("me"), second)
    one, two = (load.import_cartridge(cast.lea, path) for path in (first, second))
    for found in (two, one):
        load.remove_imported(cast.lea, found.cartridge_id)
    assert Source.objects.count() == 1
    assert not Atom.objects.filter(text__contains="soft water", metadata_json__contains="imported").exists()


def test_a_source_with_a_memory_that_stays_behind_stays_too(manual, cast, tmp_path):
    member = CartridgeAtom.objects.filter(cartridge=manual).first()
    edit(cast.mira, member.atom_id, visibility="private")
    path = tmp_path / "manual.rekal"
    written = write.export_cartridge(cast.mira, manual.pk, audience_of("household"), path)
    assert written.manifest.sources == []
    CartridgeAtom.objects.filter(pk=member.pk).delete()
    assert write.export_cartridge(cast.mira, manual.pk, audience_of("me"), path).manifest.sources == []


# The trust boundary


def rebuilt(
    path,
    tmp_path,
    *,
    rows=None,
    about=None,
    files=None,
    extra=(),
    keep_dna=False,
    compression=zipfile.ZIP_DEFLATED,
):
    """A cartridge like `path` with other rows, manifest fields or entries; its dna fits unless kept."""
    with zipfile.ZipFile(path) as packed:
        stated = json.loads(packed.read("manifest.json"))
        content = {name: packed.read(name) for name in packed.namelist() if name != "manifest.json"}
    if rows is not None:
        content["atoms.parquet"] = rows if isinstance(rows, bytes) else table.write_rows(rows)
    content |= files or {}
    if not keep_dna:
        stated["dna"] = manifest.dna((name, lambda one=one: io.BytesIO(one)) for name, one in content.items())
    stated |= about or {}
    made = tmp_path / "rebuilt.rekal"
    with zipfile.ZipFile(made, "w", compression) as packed:
        packed.writestr("manifest.json", json.dumps(stated))
        for name, one in content.items():
            packed.writestr(name, one)
        for name, one in extra:
            packed.writestr(name, one)
    return made


def rows_of(path):
    with archive.opened(path) as opened:
        return list(table.read_rows(opened.read_atoms()))


def refused(viewer, path):
    """The sentence a file is refused with; the store and its folder stay as they were."""
    before = (
        sorted(Atom.objects.values_list("atom_id", "updated_at")), Cartridge.objects.count(), Source.objects.count(),
        sorted(one for one in source_files.folder().rglob("*")),
    )  # fmt: skip
    with pytest.raises(Invalid) as refusal:
        load.import_cartridge(viewer, path)
    after = (
        sorted(Atom.objects.values_list("atom_id", "updated_at")), Cartridge.objects.count(), Source.objects.count(),
        sorted(one for one in source_files.folder().rglob("*")),
    )  # fmt: skip
    assert before == after
    return str(refusal.value)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    "extra",
    [
        [("../../etc/cron.d/x", b"x")],
        [("/etc/passwd", b"x")],
        [("C:\\x", b"x")],
        [("sources/..", b"x")],
        [("sources/readme.txt", b"x")],
        [("ATOMS.PARQUET", b"x")],
        [("atoms.parquet", b"x")],
        [("sources/", b"")],
        [("sources/" + "0" * 64, b"x")],
    ],
)
def test_another_path_than_ours_is_refused(file, cast, tmp_path, extra):
    assert refused(cast.lea, rebuilt(file, tmp_path, extra=extra))


def test_links_and_encrypted_entries_are_refused(file, cast, tmp_path):
    made = rebuilt(file, tmp_path)
    with zipfile.ZipFile(made, "a") as packed:
        link = zipfile.ZipInfo("sources/" + "0" * 64)
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        packed.writestr(link, "/etc/passwd")
    assert "plain file" in refused(cast.lea, made)
    assert "packed" in refused(cast.lea, rebuilt(file, tmp_path, compression=zipfile.ZIP_BZIP2))


def test_a_bomb_is_refused_by_what_it_states(file, cast, tmp_path, monkeypatch):
    zeros = b"\0" * (40 * 1024**2)
    name = f"sources/{hashlib.sha256(zeros).hexdigest()}"
    assert "unpacks to more" in refused(cast.lea, rebuilt(file, tmp_path, files={name: zeros}))
    monkeypatch.setattr(archive, "MAX_TOTAL", 1_000)
    assert "unpack to more" in refused(cast.lea, file)
    monkeypatch.setattr(archive, "MAX_FILE", 100)
    assert "larger" in refused(cast.lea, file)


def test_damage_is_noticed(file, cast, tmp_path):
    assert "damaged" in refused(cast.lea, rebuilt(file, tmp_path, rows=rows_of(file)[:3], keep_dna=True))
    for cut in (0, 3, 100, file.stat().st_size - 10):
        short = tmp_path / "short.rekal"
        short.write_bytes(file.read_bytes()[:cut])
        assert refused(cast.lea, short)
    content = bytearray(file.read_bytes())
    content[content.index(b"PAR1") + 40] ^= 0xFF
    flipped = tmp_path / "flipped.rekal"
    flipped.write_bytes(content)
    assert refused(cast.lea, flipped)


@pytest.mark.parametrize(
    "about",
    [
        {"format": "other"},
        {"schema_version": 2},
        {"schema_version": 0},
        {"schema_version": "1"},
        {"counts": {"memories": 5, "edges": 0, "sources": 0}},
        {"counts": {"memories": 10**9, "edges": 0, "sources": 0}},
        {"counts": {"memories": 4, "edges": 0, "sources": 1}},
        {"dna": "0" * 64},
        {"dna": "../x"},
        {"name": ""},
        {"name": "x" * 300},
        {"extra": 1},
        {"sources": [{"path": "../x", "name": "x", "kind": "text", "mime": "text/plain", "sha256": "0" * 64, "size_bytes": 1}],
         "counts": {"memories": 4, "edges": 0, "sources": 1}},
    ],
)  # fmt: skip
def test_a_manifest_of_another_shape_is_refused(file, cast, tmp_path, about):
    assert refused(cast.lea, rebuilt(file, tmp_path, about=about))


@pytest.mark.parametrize(
    "change",
    [
        {"text": ""},
        {"text": "x" * 70_000},
        {"text": "a\0b"},
        {"atom_id": "../x"},
        {"atom_id": ""},
        {"holder_id": "a\nb"},
        {"event_time": "soon"},
        {"modality": "hologram"},
        {"visibility": "{"},
        {"edges": "7"},
        {"edges": '[{"relation": "supports", "to": "elsewhere"}]'},
        {"edges": '[{"relation": "rules", "to": "elsewhere"}]'},
        {"supersedes": ["elsewhere"]},
        {"trust": "[]"},
        {"layout": "{" * 1_000},
        {"source_file": "sources/" + "0" * 64},
        {"tags": ["x" * 500]},
        {"tags": [None]},
        {"supersedes": [None]},
        {"edges": '[{"relation": ["x"], "to": ["elsewhere"]}]'},
        {"edges": '[{"relation": "supports", "to": {}}]'},
    ],
)
def test_a_row_that_does_not_fit_refuses_the_whole_file(file, cast, tmp_path, change):
    first, *others = rows_of(file)
    assert refused(cast.lea, rebuilt(file, tmp_path, rows=[first | change, *others]))


def test_no_row_can_reach_into_the_store(file, cast, tmp_path):
    mine = remember(cast.lea, "Lea's own memory")
    first, *others = rows_of(file)
    made = rebuilt(file, tmp_path, rows=[first | {"supersedes": [mine.atom_id]}, *others])
    assert refused(cast.lea, made)
    made = rebuilt(file, tmp_path, rows=[first | {"atom_id": mine.atom_id, "edges": "[]", "supersedes": []}],
                   about={"counts": {"memories": 1, "edges": 0, "sources": 0}})  # fmt: skip
    found = load.import_cartridge(cast.lea, made)
    assert Atom.objects.get(atom_id=mine.atom_id).text == "Lea's own memory"
    assert not CartridgeAtom.objects.filter(cartridge=found.cartridge_id, atom_id=mine.atom_id).exists()


def test_rows_that_unpack_to_gigabytes_are_refused_unread(file, cast, tmp_path, monkeypatch):
    first, *others = rows_of(file)
    monkeypatch.setattr(table, "SMALL", 50_000)
    made = rebuilt(file, tmp_path, rows=[first | {"text": "a" * 60_000_000}, *others])
    assert "unpack to more" in refused(cast.lea, made)
    monkeypatch.setattr(table, "MAX_VALUES", 5_000)
    made = rebuilt(file, tmp_path, rows=[first | {"tags": [None] * 6_000}, *others])
    assert "unpack to more" in refused(cast.lea, made)


def test_a_column_that_may_be_empty_where_ours_may_not_is_refused(file, cast, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    shape = pa.schema([pa.field(one.name, one.type) for one in table.schema()])
    first, *others = rows_of(file)
    out = io.BytesIO()
    rows = pa.Table.from_pylist([first | {"atom_id": None, "text": None}, *others], schema=shape)
    pq.write_table(rows, out, compression="zstd", use_dictionary=False, store_schema=False)
    assert "other columns" in refused(cast.lea, rebuilt(file, tmp_path, rows=out.getvalue()))


def test_other_columns_and_other_packings_are_refused(file, cast, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = rows_of(file)

    def packed(shape, **how):
        out = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(rows, schema=shape), out, **how)
        return out.getvalue()

    plain = {"compression": "zstd", "use_dictionary": False, "store_schema": False}
    other = pa.schema([one for one in table.schema() if one.name != "scenario"])
    for content in (
        packed(table.schema(), **plain | {"use_dictionary": True}),
        packed(table.schema(), **plain | {"compression": "snappy"}),
        packed(other, **plain),
        b"PAR1" + b"\0" * 100 + b"PAR1",
        b"no parquet",
        b"",
    ):
        assert refused(cast.lea, rebuilt(file, tmp_path, rows=content))


def test_a_source_is_what_it_says_or_refused(manual, cast, tmp_path):
    path = tmp_path / "manual.rekal"
    entry = (
        write.export_cartridge(cast.mira, manual.pk, audience_of("me"), path).manifest.sources[0].model_dump()
    )
    for change in ({"kind": "pdf", "mime": "application/pdf"}, {"name": "../x.md"}, {"size_bytes": 1}):
        assert refused(cast.lea, rebuilt(path, tmp_path, about={"sources": [entry | change]}))
    program = b"\x7fELF" + bytes(range(256)) * 10
    sha256 = hashlib.sha256(program).hexdigest()
    changed = entry | {"path": f"sources/{sha256}", "sha256": sha256, "size_bytes": len(program)}
    made = rebuilt(path, tmp_path, files={f"sources/{sha256}": program})
    with zipfile.ZipFile(made) as packed:
        content = {
            name: packed.read(name) for name in packed.namelist() if not name.endswith(entry["sha256"])
        }
    stated = json.loads(content.pop("manifest.json")) | {"sources": [changed]}
    stated["dna"] = manifest.dna((name, lambda one=one: io.BytesIO(one)) for name, one in content.items())
    with zipfile.ZipFile(made, "w") as packed:
        packed.writestr("manifest.json", json.dumps(stated))
        for name, one in content.items():
            packed.writestr(name, one)
    assert "no kind of file" in refused(cast.lea, made)


# Doors


def calls(holder, scopes=("read", "write")):
    client = Client()
    _, plain = Token.objects.issue(holder, list(scopes))
    return client, {"Authorization": f"Bearer {plain}"}


def test_over_the_api(house, cast, tmp_path):
    client, mira = calls("mira")
    where = f"/api/cartridges/{house.pk}/export"
    shown = client.get(f"{where}?audience=household", headers=mira).json()
    assert (shown["count"], shown["left_out"]) == (4, 3)
    reply = client.post(
        where, {"audience": "household", "passphrase": "correct horse"}, "application/json", headers=mira
    )
    assert reply.status_code == 200
    assert reply["Content-Disposition"] == 'attachment; filename="the-house.rekal"'
    content = b"".join(reply)
    reply.close()
    client, lea = calls("lea")
    assert client.get(f"{where}?audience=me", headers=lea).status_code == 404
    sent = {
        "file": io.BytesIO(content),
        "passphrase": "correct horse",
        "holders": '{"mira": "mira"}',
        "mount": "true",
    }
    sent["file"].name = "house.rekal"
    reply = client.post("/api/cartridges/import", sent, headers=lea)
    assert reply.status_code == 201, reply.content
    body = reply.json()
    assert (body["taken"], body["mounted"], body["names"]["mira"]) == (4, True, "mira")
    reply = client.delete(f"/api/cartridges/{body['cartridge_id']}/memories", headers=lea)
    assert reply.json() == {"name": "The house", "removed": 4, "kept": 0}
    broken = io.BytesIO(b"PK\x03\x04 no zip")
    broken.name = "x.rekal"
    assert client.post("/api/cartridges/import", {"file": broken}, headers=lea).status_code == 422
    client, reader = calls("lea", ["read"])
    sent["file"].seek(0)
    assert client.post("/api/cartridges/import", sent, headers=reader).status_code == 403


def test_on_the_command_line(store, run, tmp_path):
    run("holder-set", "mira", "--kind", "person")
    run("holder-set", "jonas", "--kind", "person")
    made = run(
        "remember", "The stopcock is under the sink", "--as", "mira", "--visibility", "household", "--json"
    ).json
    run("remember", "Mira's diary is in the desk", "--as", "mira")
    cartridge = Cartridge.objects.create(name="House", owner_id="mira")
    for atom in Atom.objects.all():
        CartridgeAtom.objects.create(cartridge=cartridge, atom=atom)
    path, secret = tmp_path / "house.rekal", tmp_path / "secret"
    secret.write_text("correct horse\n")
    shown = run(
        "cartridge-export", cartridge.pk, str(path), "--as", "mira", "--for", "household", "--preview"
    )
    assert made["text"] in shown.out
    assert "diary" not in shown.out
    assert not path.exists()
    ran = run("cartridge-export", cartridge.pk, str(path), "--as", "mira", "--for", "household",
              "--passphrase-file", str(secret), "--json")  # fmt: skip
    assert ran.code == 0, ran.err
    assert ran.json["counts"]["memories"] == 1
    assert run("import", str(path), "--as", "jonas").code == 2
    ran = run(
        "import", str(path), "--as", "jonas", "--passphrase-file", str(secret), "--map", "mira=mira", "--json"
    )
    assert ran.json["taken"] == 1
    again = run(
        "cartridge-import", str(path), "--as", "jonas", "--passphrase-file", str(secret), "--mount", "--json"
    )
    assert (again.json["already_here"], again.json["mounted"]) == (1, True)
    assert run("cartridge-remove", ran.json["cartridge_id"], "--as", "jonas").code == 2
    assert run("cartridge-remove", ran.json["cartridge_id"], "--as", "jonas", "--yes").code == 0
    assert Atom.objects.count() == 2
    assert run("cartridge-export", cartridge.pk, str(path), "--as", "jonas", "--for", "me").code == 1
