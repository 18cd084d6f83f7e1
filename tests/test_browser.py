"""The family's pages in a real Chromium: with and without scripts, on a phone and on a desk, light and dark."""

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

sync_api = pytest.importorskip("playwright.sync_api")

from holders.accounts import open_account  # noqa: E402
from memories.remember import remember  # noqa: E402
from tests.pages import PASSWORD  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (apt install chromium)"),
]


def until(page, expression):
    """Wait for a condition in the page. Asked from outside: a function that polls inside it is eval, and refused."""
    for _ in range(200):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    raise AssertionError(expression)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """One browser for the whole file."""
    before = os.environ.get("DJANGO_ALLOW_ASYNC_UNSAFE")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"  # Playwright keeps an event loop in this thread
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-background-networking"]
        )
        yield browser
        browser.close()
    os.environ.pop("DJANGO_ALLOW_ASYNC_UNSAFE")
    if before is not None:
        os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = before


@pytest.fixture
def household(transactional_db: None, cast: Any) -> Any:
    """Mira and Jonas can sign in, and a few things are written down."""
    from django.core.cache import cache

    from holders import limits

    cache.clear()
    limits.forget_all()
    open_account("mira", "mira", PASSWORD, is_staff=True)
    open_account("jonas", "jonas", PASSWORD)
    remember(
        cast.mira, "The spare key hangs behind the boiler in the cellar.", visibility="household",
        scenario="house", tags=["key"],
    )  # fmt: skip
    remember(cast.mira, "The safe opens with the birthday of our cat Milo.", visibility="private")
    old = remember(cast.jonas, "备用钥匙在冰箱上面。", visibility="household", event_time="2026-07-19")
    remember(cast.jonas, "备用钥匙在蓝色盒子里。", visibility="household", replaces=[old.atom_id])
    return cast


class Window:
    """A window that notes what must not happen: console errors, and requests to anywhere else."""

    def __init__(self, context: Any, home: str) -> None:
        self.home = home
        self.context = context
        context.set_default_timeout(10_000)
        self.page = context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        context.on("request", self._on_request)

    def _on_console(self, message: Any) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)

    def _on_request(self, request: Any) -> None:
        if not request.url.startswith((self.home, "data:", "about:")):
            self.complaints.append(f"asked {request.url}")

    def go(self, path: str) -> Any:
        self.page.goto(self.home + path)
        return self.page

    def sign_in(self, name: str = "mira") -> Any:
        page = self.go("/sign-in/")
        page.fill("#id_login", name)
        page.fill("#id_password", PASSWORD)
        page.press("#id_password", "Enter")
        page.wait_for_url(self.home + "/")
        return page


@pytest.fixture
def window(chromium: Any, live_server: Any) -> Iterator[Any]:
    """Opens windows; at the end each must be without complaints."""
    opened: list[Window] = []

    def open_window(**options: Any) -> Window:
        context = chromium.new_context(viewport=options.pop("viewport", PHONE), **options)
        opened.append(Window(context, live_server.url))
        return opened[-1]

    yield open_window
    complaints = [complaint for one in opened for complaint in one.complaints]
    for one in opened:
        one.context.close()
    assert not complaints


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no-scripts"])
@pytest.mark.parametrize("viewport", [PHONE, DESK], ids=["phone", "desk"])
def test_the_main_paths(household: Any, window: Any, scripts: bool, viewport: dict[str, int]) -> None:
    shown = window(viewport=viewport, java_script_enabled=scripts)
    page = shown.sign_in("jonas")

    page.fill("#question", "Where is the spare key?")
    page.press("#question", "Enter")
    page.wait_for_selector(".outcome.answered")
    assert "behind the boiler" in page.inner_text(".outcome.answered")
    page.click(".outcome .why summary >> nth=0")

    page.fill("#question", "How does the safe open?")
    page.press("#question", "Enter")
    page.wait_for_selector(".outcome.referred")
    assert "birthday" not in page.content()
    assert page.get_attribute('.outcome.referred a[href^="tel:"]', "href") == "tel:+49305550100"

    page.click('.main-nav a[href="/remember/"]')
    page.fill("#id_text", "The ladder is in Uncle Tom's garage.")
    page.click("text=Remember it")
    page.wait_for_selector(".outcome.answered")
    page.click(".said a >> text=ladder")

    page.wait_for_selector("#edit")
    page.click("#edit > summary")
    page.fill("#edit #id_text", "The ladder is back in the shed.")
    page.click("text=Keep the change")
    page.wait_for_selector(".timeline")
    assert "Uncle Tom" in page.inner_text(".timeline")

    page.click("button.danger")
    page.wait_for_selector("text=Bring it back")
    page.click("button >> text=Bring it back")
    page.wait_for_selector('.said:has-text("The ladder is back in the shed.")')

    page.click('.main-nav a[href="/memories/"]')
    page.fill("#id_q", "ladder")
    page.press("#id_q", "Enter")
    page.wait_for_selector("#results .said >> text=ladder")
    until(page, "!document.querySelector('#results').innerText.includes('spare key')")

    page.click('.main-nav a[href="/people/"]')
    page.click(".card a >> text=Mira")
    page.wait_for_selector("h1 >> text=Mira")


def test_slash_goes_to_the_question_box(household: Any, window: Any) -> None:
    page = window().sign_in()
    page.click("h1")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "question"
    page.keyboard.type("a/b")
    assert page.input_value("#question") == "a/b"


def test_back_after_an_answer_shows_a_whole_page(household: Any, window: Any) -> None:
    shown = window()
    page = shown.sign_in()
    page.fill("#question", "Where is the spare key?")
    page.press("#question", "Enter")
    page.wait_for_selector(".outcome.answered")
    assert "q=" in page.url
    assert page.evaluate("document.activeElement.id") == "question"
    page.click('.main-nav a[href="/people/"]')
    page.wait_for_selector("h1")
    page.go_back()
    page.wait_for_selector(".outcome.answered")
    assert page.locator("header.top").count() == 1
    page.go_back()
    page.wait_for_selector("#question")
    until(page, "!document.querySelector('.outcome')")
    assert page.locator("header.top").count() == 1


def test_a_reload_after_a_filter_shows_a_whole_page(household: Any, window: Any) -> None:
    page = window(viewport=DESK).sign_in()
    page.click('.main-nav a[href="/memories/"]')
    page.fill("#id_q", "key")
    page.wait_for_url("**/memories/?q=key*")
    page.reload()
    assert page.locator("header.top").count() == 1
    assert "behind the boiler" in page.inner_text("#results")


def test_the_next_person_at_the_same_browser_sees_nothing_of_the_last(household: Any, window: Any) -> None:
    shown = window()
    page = shown.sign_in("mira")
    shown.go("/memories/?q=safe")
    assert "birthday" in page.inner_text("#results")
    page.click(".more-menu > summary")
    page.click("text=Sign out")
    page.wait_for_selector("#id_login")
    page.go_back()
    page.wait_for_load_state()
    assert "birthday" not in page.content()
    shown.sign_in("jonas")
    for _ in range(3):
        page.go_back()
        page.wait_for_load_state()
        assert "birthday" not in page.content()
    assert "safe" not in page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")


def test_similar_ones_appear_while_one_types(household: Any, window: Any) -> None:
    shown = window()
    page = shown.sign_in()
    shown.go("/remember/")
    page.type("#id_text", "The spare key hangs behind the boiler, on the left.")
    page.wait_for_selector("#hints input[name=replaces]")
    page.check("#hints input[name=replaces] >> nth=0")
    page.click("text=Remember it")
    page.wait_for_selector(".outcome.answered")
    page.click(".outcome .said a")
    page.wait_for_selector(".timeline")


def test_picking_people_shows_only_when_it_matters(household: Any, window: Any) -> None:
    shown = window()
    page = shown.sign_in()
    shown.go("/remember/")
    page.fill("#id_text", "The present is in the cellar.")
    page.click("summary >> text=Who may read it?")
    assert not page.is_visible("text=These may read it")
    page.check("input[name=readers][value=holders]")
    page.check("input[name=named][value='holder:jonas']")
    page.click("text=Remember it")
    page.wait_for_selector(".outcome.answered >> text=Some people")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_page_is_for_everybody(household: Any, window: Any, theme: str) -> None:
    """axe-core finds nothing serious, and nothing is wider than the screen."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    atom_id = next(iter(household_ids(household)))
    paths = [
        "/", "/?q=Where+is+the+spare+key%3F", "/?q=Which+moons+does+Jupiter+have%3F", "/remember/",
        f"/remember/?saved={atom_id}", "/memories/", f"/memories/{atom_id}/", f"/memories/{atom_id}/?open=edit",
        "/people/", "/people/mira/", "/people/jonas/", "/account/safer/", "/account/sessions/",
        "/account/password/", "/people/nobody/",
    ]  # fmt: skip
    found = []
    for viewport in (PHONE, DESK):
        shown = window(viewport=viewport, color_scheme=theme)
        page = shown.go("/sign-in/")
        found += serious(axe, page, "/sign-in/")
        shown.sign_in()
        for path in paths:
            shown.go(path)
            found += serious(axe, page, path) if viewport is PHONE else []
            wide = page.evaluate("document.documentElement.scrollWidth")
            if wide > viewport["width"]:
                found.append(f"{path}: {wide} px wide")
        shown.complaints = [one for one in shown.complaints if "404" not in one]
    assert not found


def household_ids(cast: Any) -> list[str]:
    from memories.browse import list_memories

    return [one.atom_id for one in list_memories(cast.mira).items]


def serious(axe: Any, page: Any, path: str) -> list[str]:
    result = axe.run(page)
    return [
        f"{path}: {one['id']} {node['html'][:160]}"
        for one in result.response["violations"]
        if one["impact"] in {"serious", "critical"}
        for node in one["nodes"][:2]
    ]


def test_a_phone_finds_every_page_within_two_taps(household: Any, window: Any) -> None:
    page = window().sign_in()
    for link in page.locator(".main-nav > ul > li > a").all():
        box = link.bounding_box()
        assert box["height"] >= 44
        assert box["y"] + box["height"] <= PHONE["height"]
    page.click(".more-menu > summary")
    assert page.is_visible("text=Sign out")
    page.keyboard.press("Escape")
    assert not page.is_visible("text=Sign out")
