"""The pages in Chinese: every marked string has its words, the placeholders agree, the compiled catalogue is current."""

import ast
import gettext
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse
from django.utils import translation

from holders.forms import HouseholdForm
from holders.models import Preference, SignIn

ROOT = Path(__file__).resolve().parent.parent
CATALOGUE = ROOT / "rekal_site/locale/zh_Hans/LC_MESSAGES/django.po"
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|%%")
HINT = "run: manage.py makemessages -l zh_Hans --ignore '.venv*' --ignore build --ignore tests --no-location; translate; compilemessages"
FUNCTIONS = {"_": 0, "gettext": 0, "gettext_lazy": 0, "gettext_noop": 0, "ngettext": 0, "pgettext": 1}
TRANSLATE = re.compile(r"""{% translate (?:"([^"]+)"|'([^']+)')|_\("([^"]+)"\)""")
BLOCK = re.compile(r"{% blocktranslate[^%]*%}(.*?)(?:{% plural %}.*?)?{% endblocktranslate %}", re.DOTALL)


@dataclass
class Entry:
    """One message of the catalogue."""

    flags: str = ""
    words: dict[str, str] = field(default_factory=dict)

    @property
    def source(self) -> str:
        return self.words["msgid"]

    @property
    def chinese(self) -> str:
        return self.words.get("msgstr", self.words.get("msgstr[0]", ""))


def read_catalogue() -> list[Entry]:
    """The messages of the .po file, its header left out."""
    entries = [read_entry(block) for block in CATALOGUE.read_text("utf-8").split("\n\n")]
    return [one for one in entries if one.words.get("msgid")]


def read_entry(block: str) -> Entry:
    entry, key = Entry(), ""
    for line in block.splitlines():
        if line.startswith("#"):
            entry.flags += line if line.startswith("#,") else ""
            continue
        name, _space, text = line.partition(" ")
        if not line.startswith('"'):
            key = name
        entry.words[key] = entry.words.get(key, "") + ast.literal_eval(line if line.startswith('"') else text)
    return entry


def marked_strings() -> Iterator[tuple[str, str]]:
    """`(file, string)` for all that templates and modules mark for translation."""
    for path in sorted((ROOT / "templates").rglob("*.html")):
        text = path.read_text("utf-8")
        for groups in TRANSLATE.findall(text):
            yield path.name, next(one for one in groups if one)
        for body in BLOCK.findall(text):
            yield path.name, re.sub(r"{{ (\w+) }}", r"%(\1)s", body.replace("%", "%%"))
    for package in ("memories", "holders", "rekal_site"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if (
                    isinstance(node, ast.Call)
                    and isinstance(node.func, ast.Name)
                    and node.func.id in FUNCTIONS
                ):
                    said = node.args[FUNCTIONS[node.func.id]] if node.args else None
                    if isinstance(said, ast.Constant) and isinstance(said.value, str):
                        yield path.name, said.value


class TestCatalogue:
    def test_nothing_is_left_in_english_or_in_doubt(self) -> None:
        entries = read_catalogue()
        assert len(entries) > 500
        assert [one.source for one in entries if not one.chinese or "fuzzy" in one.flags] == [], HINT

    def test_every_marked_string_is_in_it(self) -> None:
        known = {one.source for one in read_catalogue()}
        assert sorted({(name, said) for name, said in marked_strings() if said not in known}) == [], HINT

    def test_placeholders_agree(self) -> None:
        for one in read_catalogue():
            wanted = set(PLACEHOLDER.findall(one.words.get("msgid_plural", one.source)))
            assert set(PLACEHOLDER.findall(one.chinese)) == wanted, one.source

    def test_the_compiled_catalogue_is_current(self) -> None:
        with CATALOGUE.with_suffix(".mo").open("rb") as file:
            compiled = gettext.GNUTranslations(file)
        for one in read_catalogue():
            context = one.words.get("msgctxt")
            if "msgid_plural" in one.words:
                found = compiled.ngettext(one.source, one.words["msgid_plural"], 2)
            else:
                found = compiled.pgettext(context, one.source) if context else compiled.gettext(one.source)
            assert found == one.chinese, HINT

    def test_a_plural_shares_its_words_with_no_title(self) -> None:
        """A title that shared a plural's string would show its bare placeholder."""
        plurals = {one.source for one in read_catalogue() if "msgid_plural" in one.words}
        titles = [
            groups[0]
            for path in (ROOT / "templates").rglob("*.html")
            for groups in re.findall(r'{% translate "([^"]+)"( as \w+)? %}', path.read_text("utf-8"))
        ]
        assert plurals.isdisjoint(titles)


@pytest.fixture
def mira(cast: Any) -> Callable[..., Client]:
    """Browsers in which Mira is signed in, with headers of one's choice."""
    user = get_user_model().objects.create_user("mira", password=None)
    SignIn.objects.create(user=user, holder_id="mira")

    def browser(**headers: str) -> Client:
        client = Client(headers=headers)
        client.force_login(user)
        return client

    return browser


class TestPages:
    @pytest.mark.parametrize("wanted", ["zh-hans", "zh-CN", "zh-CN,zh;q=0.9,en;q=0.8"])
    def test_a_chinese_browser_is_asked_in_chinese(self, mira: Callable[..., Client], wanted: str) -> None:
        page = mira(accept_language=wanted).get(reverse("ask")).content.decode()
        assert '<html lang="zh-hans"' in page
        assert "你想知道什么？" in page
        assert "What would you like to know?" not in page

    def test_the_switch_stays_with_the_person(self, mira: Callable[..., Client]) -> None:
        client = mira(accept_language="en")
        assert "What would you like to know?" in client.get(reverse("ask")).content.decode()
        client.post(reverse("look"), {"language": "zh-hans", "back": "/"})
        assert "你想知道什么？" in client.get(reverse("ask")).content.decode()
        assert Preference.objects.get(pk="mira").language == "zh-hans"
        assert "你想知道什么？" in mira(accept_language="en").get(reverse("ask")).content.decode()

    def test_the_door_speaks_chinese(self, cast: Any) -> None:
        page = Client(headers={"accept-language": "zh-hans"}).get(reverse("sign-in"), follow=True)
        assert "登录" in page.content.decode()

    def test_a_failure_is_told_in_the_readers_language(self) -> None:
        with translation.override("zh-hans"):
            page = render_to_string("500.html")
        assert 'lang="zh-hans"' in page
        assert "出了点问题" in page
        with translation.override("en"):
            assert "Something went wrong" in render_to_string("500.html")

    def test_a_label_that_asks_gets_no_colon(self) -> None:
        with translation.override("zh-hans"):
            label = HouseholdForm()["name"].label_tag()
        assert "？</label>" in label
