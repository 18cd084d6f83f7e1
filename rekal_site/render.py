"""Results as JSON bodies and as text for people; every command and the demo print through here.

JSON is the API's reply body, key for key. Text is a list of rich renderables: coloured on a terminal, plain in a
pipe. Stored text is printed with control characters taken out, so that no memory can drive a terminal.
"""

import json
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from typing import Any, TextIO
from zoneinfo import ZoneInfo

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from holders.ask import Asked
from holders.registry import HolderCard
from holders.who_knows import Knower, WhoKnows
from memories import timestamps
from memories.results import Hit, Memory, Pruned, Recall

Lines = Iterable[RenderableType]
Names = Mapping[str, str]

DATE_LENGTHS = {"year": 4, "month": 7, "day": 10}
PIPE_WIDTH = 10_000  # a pipe wraps nothing


def body(result: Any) -> Any:
    """A result dataclass (or several) as plain JSON values, as the API's schemas give it."""
    if isinstance(result, Recall):
        return {"query": result.query, "hits": [body(hit) for hit in result.hits]}
    if is_dataclass(result) and not isinstance(result, type):
        return asdict(result)
    if isinstance(result, list | tuple):
        return [body(one) for one in result]
    return result


def to_json(result: Any, *, pretty: bool = False) -> str:
    """One line of JSON for programs; indented where a person reads it."""
    return json.dumps(body(result), ensure_ascii=False, indent=2 if pretty else None)


def printable(text: str) -> str:
    """Text without what a terminal would obey (control characters, turns of the writing direction), or cannot print."""
    return "".join(one if one in "\n\t" or not _is_obeyed(one) else "�" for one in text)


_OBEYED = {"Cc", "Cs"}
_TURNS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def _is_obeyed(one: str) -> bool:
    return unicodedata.category(one) in _OBEYED or unicodedata.bidirectional(one) in _TURNS


def write(stream: Any, lines: Lines) -> None:
    """Print renderables to a command's stdout."""
    out: TextIO = getattr(stream, "_out", stream)
    terminal = bool(getattr(out, "isatty", lambda: False)())
    console = Console(
        file=out, force_terminal=terminal, width=None if terminal else PIPE_WIDTH, highlight=False, markup=False,
        emoji=False, soft_wrap=not terminal,
    )  # fmt: skip
    for line in lines:
        console.print(line)


@contextmanager
def progress(stream: Any, title: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal, nothing in a pipe; yields `advance(done, total)`."""
    out: TextIO = getattr(stream, "_out", stream)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(file=out), disable=not out.isatty(), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def line(*parts: str | tuple[str, str]) -> Text:
    """A line of text from plain pieces and `(piece, style)` pairs."""
    text = Text()
    for part in parts:
        piece, style = part if isinstance(part, tuple) else (part, "")
        text.append(printable(piece), style=style)
    return text


def event(memory: Memory, zone: ZoneInfo) -> str:
    """When it happened, in the household's zone; a date keeps its date; '' when nobody said."""
    if memory.event_time is None:
        return ""
    ends = [one for one in (memory.event_time, memory.event_time_end) if one]
    return " – ".join(_moment(one, memory.event_time_precision, zone) for one in ends)


def _moment(stored: str, precision: str, zone: ZoneInfo) -> str:
    if length := DATE_LENGTHS.get(precision):
        return stored[:length]
    return timestamps.from_text(stored).astimezone(zone).strftime("%Y-%m-%d %H:%M")


def date(stored: str, zone: ZoneInfo) -> str:
    """A stored moment's date in the household's zone."""
    return timestamps.from_text(stored).astimezone(zone).date().isoformat()


def memory_lines(memory: Memory, names: Names, zone: ZoneInfo, *, number: str = "") -> list[Text]:
    """A memory in two lines: what it says, then whose, in which situation, when, and its id."""
    indent = " " * len(number)
    whose = names.get(memory.holder_id, memory.holder_id)
    about = [whose, memory.scenario, event(memory, zone), *(f"#{tag}" for tag in memory.tags)]
    if memory.valid_to:
        about.append(f"until {date(memory.valid_to, zone)}")
    about.append(memory.atom_id)
    text = printable(memory.text).replace("\n", f"\n{indent}")
    return [
        line((number, "bold"), text),
        line(indent, (" · ".join(one for one in about if one), "dim")),
    ]


def hit_lines(hits: Sequence[Hit], names: Names, zone: ZoneInfo) -> list[Text]:
    """Hits, numbered, each with its relevance and the reasons for its place."""
    lines: list[Text] = []
    for place, hit in enumerate(hits, start=1):
        number = f"{place}. "
        lines += memory_lines(hit.memory, names, zone, number=number)
        reasons = "; ".join(hit.basis)
        lines.append(
            line(
                " " * len(number),
                (f"relevance {hit.relevance:.2f}" + (f" — {reasons}" if reasons else ""), "dim"),
            )
        )
    return lines


def contact(pairs: Mapping[str, str]) -> str:
    """Ways to reach somebody, in one line."""
    return ", ".join(f"{key} {value}" for key, value in pairs.items())


def knower_lines(knower: Knower, *, hop: int | None = None) -> list[Text]:
    """Who may know: the name, how surely, how to reach her, and why."""
    name = knower.name or knower.holder_id
    where = f" (hop {hop})" if hop is not None else ""
    lines = [line("  ", (name, "bold"), f" — {knower.confidence}{where}")]
    if reach := contact(knower.contact):
        lines.append(line("    ", reach))
    lines += [line("    ", (sentence, "dim")) for sentence in knower.basis]
    return lines


def who_knows_lines(result: WhoKnows) -> list[Text]:
    """Everybody who may know, best first."""
    return [one for knower in result.holders for one in knower_lines(knower)]


def ask_lines(result: Asked, names: Names, zone: ZoneInfo) -> list[Text]:
    """One of the three ends of a question, with the way it went."""
    trail = [names.get(one, one) for one in result.visited]
    way = [line((f"Asked on the way: {', '.join(trail)}.", "dim"))] if trail else []
    way += [
        line((f"{names.get(one.holder_id, one.holder_id)} (hop {one.hop}): {one.outcome}", "dim"))
        for one in result.trail
    ]
    if result.status == "answered":
        where = "" if result.hops_used == 0 else f", after {_hops(result.hops_used)}"
        return [line(("Answered", "bold green"), f"{where}:"), *hit_lines(result.answers, names, zone), *way]
    if result.status == "referred":
        lines = [
            line(("Referred", "bold yellow"), ": nothing you may read answers this, but somebody knows.")
        ]
        for knower in result.referrals:
            lines += knower_lines(knower, hop=knower.hop)
        return lines + way
    return [line(("Nobody knows", "bold red"), ": no holder here knows anything about this."), *way]


def _hops(count: int) -> str:
    return "one hop" if count == 1 else f"{count} hops"


def holder_table(cards: Sequence[HolderCard]) -> Table:
    """The directory as a table."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("id", "name", "kind", "knows about", "contact", "groups"):
        table.add_column(title, overflow="fold")
    for card in cards:
        kind = card.kind if card.registered else "(not registered)"
        cells = (
            card.holder_id,
            card.name,
            kind,
            ", ".join(card.knows_about),
            contact(card.contact),
            ", ".join(card.groups),
        )
        table.add_row(*(line(cell) for cell in cells))
    return table


def memories(count: int) -> str:
    """How many memories, in words."""
    return "1 memory" if count == 1 else f"{count} memories"


def pruned_lines(result: Pruned) -> list[Text]:
    """What a prune removed, or would."""
    if result.dry_run:
        return [
            line(f"{memories(result.count)} would be removed for good; say --yes to do it."),
            *map(line, result.atom_ids),
        ]
    return [line(f"{memories(result.count)} removed for good.")]
