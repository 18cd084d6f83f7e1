"""The pictures of the README: seven real pages of the demo household, taken with Chromium. `make pictures` runs this.

The demo household is made in a throw-away store and served on a free port; nothing else is opened.
"""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import sync_playwright

from tests import question_way

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "pictures"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DESK, PHONE = {"width": 1100, "height": 760}, {"width": 390, "height": 844}
COLOURS = 96  # a page has few; the palette makes a picture a third of its size


def _write_a_memory(page: Any) -> None:
    """Fill the box and open the details; nothing is saved."""
    page.fill("textarea[name=text]", "The blue suitcase with the tent lies on the top shelf in the attic.")
    page.locator("textarea[name=text]").blur()
    page.wait_for_load_state("networkidle")


@dataclass(frozen=True, slots=True)
class Picture:
    """A page, as whom it is seen, and how."""

    name: str
    holder: str
    path: str
    phone: bool = False
    dark: bool = False
    before: Callable[[Any], None] | None = None


def asking(question: str) -> str:
    """The ask page with its question."""
    return "/?" + urlencode({"q": question})


PICTURES = (
    Picture("answered", "lea", asking("Where is the spare key to the garden shed?")),
    Picture("referred", "jonas", asking("Which notary keeps Grandma's will?")),
    Picture("nobody-knows", "lea", asking("How many moons does Jupiter have?")),
    Picture("remember", "mira", "/remember/", before=_write_a_memory),
    Picture("browse", "mira", "/memories/?q=garden"),
    Picture("curators", "mira", "/admin/"),
    Picture("phone", "lea", asking("Mochi的中文名字是什么？"), phone=True, dark=True),
)


def main() -> None:
    """Take every picture."""
    question_way.main()
    with demo_served() as (url, password), sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-background-networking"]
        )
        for picture in PICTURES:
            _take(browser, url, password, picture)
            print(f"· {picture.name}.png", flush=True)
        browser.close()


@contextmanager
def demo_served() -> Iterator[tuple[str, str]]:
    """A demo household of its own, served; `(address, password of everybody)`."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"REKAL_DB": str(Path(folder) / "memory.db"), "PYTHONUNBUFFERED": "1"}
        manage = [sys.executable, str(ROOT / "manage.py")]
        said = subprocess.run(
            [*manage, "demo", "--no-serve"], env=environment, check=True, text=True, stdout=subprocess.PIPE
        ).stdout
        found = re.search(r"with the password (\S+),", said)
        assert found, said
        server = subprocess.Popen(
            [*manage, "serve", "--port", "0", "--json"], env=environment, stdout=subprocess.PIPE, text=True
        )
        try:
            assert server.stdout is not None
            yield json.loads(server.stdout.readline())["url"].rstrip("/"), found[1]
        finally:
            server.terminate()
            server.communicate(timeout=30)


def _take(browser: Any, url: str, password: str, picture: Picture) -> None:
    context = browser.new_context(
        viewport=PHONE if picture.phone else DESK,
        color_scheme="dark" if picture.dark else "light",
        reduced_motion="reduce",
        locale="en",
        timezone_id="Europe/Berlin",
    )
    page = context.new_page()
    page.goto(f"{url}/sign-in/")
    page.fill("#id_login", picture.holder)
    page.fill("#id_password", password)
    page.press("#id_password", "Enter")
    page.wait_for_url(f"{url}/")
    page.goto(url + picture.path)
    page.wait_for_load_state("networkidle")
    if picture.before:
        picture.before(page)
    _save(page.screenshot(), FOLDER / f"{picture.name}.png")
    context.close()


def _save(png: bytes, path: Path) -> None:
    image = Image.open(io.BytesIO(png)).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main()
