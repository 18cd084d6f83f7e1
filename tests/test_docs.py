"""The documents tell the truth: their commands run, their links lead somewhere, and nothing is left out."""

import configparser
import importlib
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import question_way
from tests.command_line import Ran, Run, empty_store, run, store  # noqa: F401  (fixtures)
from tests.servers import Household, new_household  # noqa: F401  (fixtures)

ROOT = Path(__file__).resolve().parent.parent
DOCS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
COMMANDS = sorted(
    path.stem
    for path in (ROOT / "rekal_site" / "management" / "commands").glob("*.py")
    if path.stem != "__init__"
)
RUN_ELSEWHERE = {
    "rekal serve": "tests/servers.py runs it for every test over HTTP",
    "rekal reembed": "with the extra, in tests/test_transformers_engine.py",
}
RUN_BY_CURL = "api.md"


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def blocks(path: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", path.read_text("utf-8"), re.DOTALL | re.MULTILINE)


def prose(path: Path) -> str:
    return re.sub(r"^```.*?^```", "", path.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)


def everything() -> str:
    return "\n".join(path.read_text("utf-8") for path in DOCS)


# -- commands run


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home and a folder with the files that the documents speak of."""
    folder = tmp_path / "place"
    shutil.copytree(ROOT / "tests" / "fixtures", folder, ignore=shutil.ignore_patterns("stores"))
    (folder / "tests").mkdir()
    shutil.copytree(ROOT / "tests" / "data", folder / "tests" / "data")
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(
    "path", [path for path in DOCS if blocks(path, "sh") and path.name != RUN_BY_CURL], ids=name_of
)
def test_every_command_block_runs(path: Path, run: Run, place: Path, settings: Any) -> None:
    settings.REKAL_CACHE = place / "cache"
    for block in blocks(path, "sh"):
        for line in block.splitlines():
            follow(line, run)


def follow(line: str, run: Run) -> None:
    """Do what one line of a block says, or see that it could be done."""
    words = shlex.split(line, comments=True)
    if line in RUN_ELSEWHERE:
        return
    if words[0] == "make":
        assert subprocess.run(["make", "-n", *words[1:]], cwd=ROOT, capture_output=True).returncode == 0, line
    elif words[0] == "mkdir":
        assert words[1] == "-p", line
        Path(words[2]).expanduser().mkdir(parents=True, exist_ok=True)
    elif words[0] == "pipx":
        assert words[1] == "install", line
        assert all(word.startswith(("--", ".")) for word in words[2:]), f"{line}: from this folder alone"
    elif words[0] == "export":
        assert words[1].partition("=")[0] in documented_settings(), line
    else:
        assert words[0] == "rekal", line
        words, out = (words[:-2], words[-1]) if ">" in words else (words, "")
        ran: Ran = run(
            *(str(Path(word).expanduser()) if word.startswith("~") else word for word in words[1:])
        )
        assert ran.code == 0, f"{line}\n{ran.out}{ran.err}"
        if out:
            Path(out).write_text(ran.out, encoding="utf-8")
            assert ran.out


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_the_calls_of_the_api_guide_work(new_household: Any, tmp_path: Path) -> None:
    """Its blocks are one script for bash, against a real server; a refusal ends it."""
    home: Household = new_household("docs")
    with home.serving() as url:
        script = "\n".join(
            [
                f'rekal() {{ {shlex.join(home.command())} "$@"; }}',
                f'python3() {{ {shlex.quote(sys.executable)} "$@"; }}',
                'curl() { command curl --silent --show-error --fail-with-body "$@" || exit 9; echo; }',
                *blocks(ROOT / "docs" / RUN_BY_CURL, "sh"),
            ]
        ).replace("http://127.0.0.1:8000", url.rstrip("/"))
        done = subprocess.run(
            ["bash", "-eu"], input=script, text=True, capture_output=True, env=home.environment, cwd=tmp_path
        )
    assert done.returncode == 0, done.stdout + done.stderr
    assert '"status": "answered"' in done.stdout or '"status":"answered"' in done.stdout


def test_the_readmes_household_ends_as_it_says(run: Run) -> None:
    lines = [line for block in blocks(ROOT / "README.md", "sh") for line in block.splitlines()]
    asks = [line for line in lines if line.startswith("rekal ask")]
    for line in lines:
        if line.startswith(("rekal holder-set", "rekal remember")):
            assert run(*shlex.split(line)[1:]).code == 0, line
    first, second = (run(*shlex.split(line)[1:], "--json") for line in asks)
    assert first.json["status"] == "answered"
    assert second.json["status"] == "referred"
    assert second.json["referrals"][0]["holder_id"] == "mira"
    assert "Hansen" not in second.out


def test_configuration_blocks_can_be_read() -> None:
    for path in DOCS:
        for block in blocks(path, "json"):
            json.loads(block)
        for block in blocks(path, "ini"):
            unit = configparser.ConfigParser(strict=False, interpolation=None)
            unit.read_string(block)
            starts = re.findall(r"^ExecStart=%h/\.local/bin/rekal (\S+)", block, re.MULTILINE)
            assert starts, block
            assert set(starts) <= set(COMMANDS), block


# -- nothing is left out, nothing is made up


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_documented(command: str) -> None:
    assert re.search(rf"`rekal {command}\b(?!-)", (ROOT / "docs" / "operations.md").read_text("utf-8"))


def test_every_command_the_documents_name_exists() -> None:
    named = set(re.findall(r"(?:`|^ {4}|\$ |bin/)rekal ([a-z][a-z-]+)", everything(), re.MULTILINE))
    assert named - {*COMMANDS, "help"} == set()


def documented_settings() -> set[str]:
    return set(re.findall(r"`(REKAL_[A-Z_]+)`", (ROOT / "docs" / "operations.md").read_text("utf-8")))


def test_every_setting_is_documented_and_no_other() -> None:
    source = (ROOT / "rekal_site" / "settings.py").read_text("utf-8")
    read = set(re.findall(r"(?:environ(?:\.get)?[(\[]|_flag\()\"(REKAL_[A-Z_]+)\"", source))
    assert documented_settings() == read
    assert set(re.findall(r"REKAL_[A-Z_]*[A-Z]", everything())) <= read


def test_only_the_settings_module_reads_our_environment() -> None:
    for package in ("memories", "holders", "rekal_site"):
        for path in (ROOT / package).rglob("*.py"):
            if path.name not in {"settings.py", "cli.py"}:
                assert not re.search(r"environ.{0,12}[\"']REKAL_", path.read_text("utf-8")), path


def test_every_call_is_in_the_api_guide() -> None:
    from rekal_site.api import api

    guide = (ROOT / "docs" / RUN_BY_CURL).read_text("utf-8")
    for path in api.get_openapi_schema()["paths"]:
        start = re.sub(r"(/api/[a-z_]+(?:/\{[a-z_]+\})?).*", r"\1", path)
        assert start in guide, path
        assert path.rsplit("/", 1)[1] in guide, path


def test_every_format_is_in_the_guide_to_moving_in() -> None:
    from memories.transfer.formats import FORMATS

    guide = (ROOT / "docs" / "moving-in.md").read_text("utf-8")
    assert [one.name for one in FORMATS if f"| `{one.name}` |" not in guide] == []


def test_every_document_is_named_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert [name_of(path) for path in DOCS[1:] if f"({name_of(path)})" not in readme] == []


# -- links and pictures


def links() -> Iterator[tuple[Path, str]]:
    for path in DOCS:
        for target in re.findall(r"\]\(([^)\s]+)\)", prose(path)):
            if not target.startswith(("http://", "https://", "mailto:")):
                yield path, target


def headings(path: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize(
    ("path", "target"), [pytest.param(*one, id=f"{name_of(one[0])}:{one[1]}") for one in links()]
)
def test_every_link_leads_somewhere(path: Path, target: str) -> None:
    file, _, anchor = target.partition("#")
    found = (path.parent / file).resolve() if file else path
    assert found.exists()
    assert not anchor or anchor in headings(found)


def test_the_picture_of_a_question_is_what_the_code_draws() -> None:
    assert question_way.FILE.read_text("utf-8") == question_way.draw()


@pytest.mark.parametrize("name", [box.name for box in question_way.BOXES if box.name])
def test_the_picture_of_a_question_names_what_exists(name: str) -> None:
    parts = name.split(".")
    found: Any = importlib.import_module(".".join(parts[:2]))
    for part in parts[2:]:
        found = getattr(found, part)
    assert callable(found)


def test_every_picture_is_shown_and_made_by_the_command() -> None:
    pictures = pytest.importorskip("tests.pictures", reason="needs Playwright")
    made = {f"{picture.name}.png" for picture in pictures.PICTURES} | {question_way.FILE.name}
    assert {path.name for path in question_way.FILE.parent.iterdir()} == made
    assert all(f"pictures/{name})" in everything() for name in made)


# -- visibility by example


def examples() -> list[tuple[str, dict[str, bool]]]:
    table = re.search(
        r"^\| visibility \|.*?\n\n",
        (ROOT / "docs" / "visibility.md").read_text("utf-8"),
        re.DOTALL | re.MULTILINE,
    )
    assert table
    head, _, *rows = [
        [cell.strip() for cell in row.strip("|").split("|")] for row in table[0].strip().splitlines()
    ]
    return [
        (row[0].strip("`"), {who: said == "reads" for who, said in zip(head[1:], row[1:], strict=True)})
        for row in rows
    ]


@pytest.mark.parametrize(("visibility", "expected"), [pytest.param(*one, id=one[0]) for one in examples()])
def test_visibility_is_as_the_examples_say(db: None, visibility: str, expected: dict[str, bool]) -> None:
    from holders.auth import viewer_for
    from holders.registry import set_holder
    from memories.models import Atom
    from memories.remember import remember

    cast = {
        "Mira": ("person", ["adults"]), "Jonas": ("person", ["adults"]), "Lea": ("person", ["kids"]),
        "Sofie": ("person", ["guests"]), "house agent": ("agent", []), "boiler service": ("service", []),
    }  # fmt: skip
    for name, (kind, groups) in cast.items():
        set_holder(None, name.lower().replace(" ", "-"), name=name, kind=kind, groups=groups)
    stored = remember(viewer_for("mira"), "The key is in the blue box.", visibility="private")
    Atom.objects.filter(atom_id=stored.atom_id).update(visibility_json=visibility)
    reads = {
        name: Atom.objects.visible_to(viewer_for(name.lower().replace(" ", "-"))).exists() for name in cast
    }
    assert reads == expected
