"""The demo household is data that a loader can trust: consistent, and wide enough for every state."""

import json
import re
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from memories import timestamps
from memories.models import ORIGINS, PRECISIONS
from memories.visibility import BUILT_IN_GROUPS, CURATORS, GUESTS, parse_visibility

DEMO = Path(__file__).resolve().parent.parent / "rekal_site" / "demo"
HOUSEHOLD: dict[str, Any] = json.loads((DEMO / "household.json").read_text(encoding="utf-8"))
MEMORIES: list[dict[str, Any]] = [
    json.loads(line) for line in (DEMO / "memories.jsonl").read_text(encoding="utf-8").splitlines()
]
BY_KEY = {memory["key"]: memory for memory in MEMORIES}
ZONE = ZoneInfo(HOUSEHOLD["time_zone"])
REGISTERED = {holder["id"] for holder in HOUSEHOLD["holders"]}
UNREGISTERED = {"uncle-tom", "frau-keller"}
WRITTEN_UNTIL = "2026-12-01T00:00:00.000+00:00"

API_KEYS = {
    "text", "holder_id", "scenario", "tags", "origin", "event_time", "event_time_end", "event_time_precision",
    "valid_from", "valid_to", "retention_until", "visibility", "replaces", "source",
}  # fmt: skip
LOADER_KEYS = {"key", "recorded_by", "created_at"}
ASCII_AFTER_HAN = re.compile("[\u4e00-\u9fff][,;:!?.]")
HAN = re.compile("[\u4e00-\u9fff]")
PHONE = re.compile(r"(?:\+49 |\b0)(?:30 23125 ?\d{3}|171 39200? ?\d\d|176 0?40690 ?\d\d)(?!\d)")
PHONE_LIKE = re.compile(r"(?:\+49|\b0\d{2,4}) [\d ]{6,}")
EMAIL = re.compile(r"\S+@(\S+\.\w+)")


def scope(memory: dict[str, Any]) -> str:
    return str(memory["visibility"]["scope"])


def readers(memory: dict[str, Any]) -> set[str]:
    """The holder ids and groups a visibility names."""
    visibility = parse_visibility(memory["visibility"])
    return {*visibility["holders"], *visibility["groups"], *visibility["deny"]}


def closed(memory: dict[str, Any]) -> bool:
    """Whether its validity ran out before the last memory was written."""
    return "valid_to" in memory and timestamps.parse_moment(memory["valid_to"], ZONE) < WRITTEN_UNTIL


def test_every_line_has_only_the_keys_of_the_api_and_the_loader() -> None:
    assert len(MEMORIES) >= 120
    for memory in MEMORIES:
        assert set(memory) <= API_KEYS | LOADER_KEYS
        assert set(memory) >= {"key", "text", "holder_id", "visibility", "created_at"}


def test_keys_and_texts_are_unique_and_texts_are_short() -> None:
    assert len(BY_KEY) == len(MEMORIES)
    assert len({memory["text"] for memory in MEMORIES}) == len(MEMORIES)
    assert all(8 <= len(memory["text"]) <= 240 for memory in MEMORIES)
    assert all(memory["text"] == memory["text"].strip() for memory in MEMORIES)


def test_every_visibility_is_valid_and_names_only_the_household() -> None:
    groups = {group for holder in HOUSEHOLD["holders"] for group in holder["groups"]}
    known = REGISTERED | UNREGISTERED | groups | set(BUILT_IN_GROUPS.values())
    for memory in MEMORIES:
        assert readers(memory) <= known, memory["key"]
        assert scope(memory) != "holders" or readers(memory), memory["key"]


def test_every_time_can_be_read_and_no_range_ends_before_it_begins() -> None:
    for memory in MEMORIES:
        for name in ("event_time", "event_time_end"):
            if name in memory:
                timestamps.parse(memory[name], ZONE)
        for name in ("valid_from", "valid_to", "retention_until", "created_at"):
            if name in memory:
                timestamps.parse_moment(memory[name], ZONE)
        if "event_time_end" in memory:
            begin, end = (timestamps.parse(memory[f"event_time{end}"], ZONE)[0] for end in ("", "_end"))
            assert begin < end, memory["key"]
        if {"valid_from", "valid_to"} <= set(memory):
            begin, end = (timestamps.parse_moment(memory[name], ZONE) for name in ("valid_from", "valid_to"))
            assert begin < end, memory["key"]
        assert memory.get("event_time_precision", "day") in PRECISIONS


def test_memories_are_in_the_order_in_which_they_were_learned() -> None:
    learned = [timestamps.parse_moment(memory["created_at"], ZONE) for memory in MEMORIES]
    assert learned == sorted(learned)
    assert learned[-1] < WRITTEN_UNTIL
    assert all(datetime.fromisoformat(memory["created_at"]).tzinfo for memory in MEMORIES)


def test_replaced_memories_come_earlier_and_were_written_by_the_same_person() -> None:
    seen: set[str] = set()
    replaced: Counter[str] = Counter()
    for memory in MEMORIES:
        for old in (BY_KEY[key] for key in memory.get("replaces", [])):
            assert old["key"] in seen
            assert all(old.get(name) == memory.get(name) for name in ("holder_id", "recorded_by", "scenario"))
            assert old.get("valid_from", "") < memory["valid_from"]
            assert "valid_to" not in old
            replaced[old["key"]] += 1
        seen.add(memory["key"])
    assert len(replaced) >= 6
    assert set(replaced.values()) == {1}


def test_holders_are_registered_or_left_out_on_purpose() -> None:
    assert {memory["holder_id"] for memory in MEMORIES} == REGISTERED | UNREGISTERED
    assert {memory["recorded_by"] for memory in MEMORIES if "recorded_by" in memory} <= REGISTERED
    for memory in MEMORIES:
        assert ("recorded_by" in memory) == (memory["origin"] == "third_party"), memory["key"]
        assert memory["holder_id"] not in UNREGISTERED or "recorded_by" in memory


def test_origins_tell_agents_documents_and_people_apart() -> None:
    kinds = {holder["id"]: holder["kind"] for holder in HOUSEHOLD["holders"]}
    assert {memory["origin"] for memory in MEMORIES} == set(ORIGINS)
    for memory in MEMORIES:
        assert ("source" in memory) == (memory["origin"] == "artifact"), memory["key"]
        assert (memory["origin"] == "observed") == (kinds.get(memory["holder_id"]) == "agent"), memory["key"]
    assert "boiler-manual.pdf#page=3" in {memory.get("source") for memory in MEMORIES}


def test_a_quarter_or_more_is_chinese() -> None:
    chinese = [memory for memory in MEMORIES if len(HAN.findall(memory["text"])) >= 5]
    assert len(chinese) >= len(MEMORIES) / 4
    assert len({memory["holder_id"] for memory in chinese}) >= 3
    assert not [memory["key"] for memory in chinese if ASCII_AFTER_HAN.search(memory["text"])]


@pytest.mark.parametrize(
    ("least", "what"),
    [
        (10, lambda memory: scope(memory) == "private"),
        (30, lambda memory: scope(memory) == "household"),
        (20, lambda memory: memory["visibility"].get("groups")),
        (6, lambda memory: memory["visibility"].get("holders")),
        (2, lambda memory: memory["visibility"].get("deny")),
        (5, lambda memory: memory["visibility"].get("discoverable") is False),
        (6, closed),
        (5, lambda memory: "valid_to" in memory and not closed(memory)),
        (3, lambda memory: "retention_until" in memory),
        (8, lambda memory: "event_time_end" in memory),
        (5, lambda memory: re.fullmatch(r"\d{4}-\d\d", memory.get("event_time", ""))),
        (5, lambda memory: re.fullmatch(r"\d{4}", memory.get("event_time", ""))),
        (5, lambda memory: re.fullmatch(r"\d{4}-\d\d-\d\d", memory.get("event_time", ""))),
        (4, lambda memory: "T" in memory.get("event_time", "")),
        (3, lambda memory: "::" in memory["text"]),
        (8, lambda memory: memory["origin"] == "third_party"),
    ],
    ids=[
        "private", "household", "by group", "by name", "deny", "not discoverable", "closed", "valid for long",
        "retention", "ranges", "months", "years", "days", "minutes", "identifiers", "third party",
    ],
)  # fmt: skip
def test_every_state_is_shown_often_enough(least: int, what: Callable[[dict[str, Any]], object]) -> None:
    assert sum(bool(what(memory)) for memory in MEMORIES) >= least


def test_the_household_lives_in_many_scenarios() -> None:
    scenarios = Counter(memory["scenario"] for memory in MEMORIES)
    assert sum(count >= 5 for count in scenarios.values()) >= 10


def test_the_holders_are_people_an_agent_and_a_service_that_can_be_reached() -> None:
    kinds = Counter(holder["kind"] for holder in HOUSEHOLD["holders"])
    assert kinds["person"] >= 4
    assert (kinds["agent"], kinds["service"]) == (1, 1)
    assert len(REGISTERED) == len(HOUSEHOLD["holders"])
    for holder in HOUSEHOLD["holders"]:
        assert all(holder[name] for name in ("name", "knows_about", "contact"))
        assert ("username" in holder) == (holder["kind"] == "person")
    groups = {group for holder in HOUSEHOLD["holders"] for group in holder["groups"]}
    assert groups == {"adults", "kids", GUESTS, CURATORS}


def test_phone_numbers_and_addresses_are_nobodys() -> None:
    text = json.dumps([HOUSEHOLD["holders"], MEMORIES], ensure_ascii=False)
    assert [PHONE.match(found[0]) for found in PHONE_LIKE.finditer(text)].count(None) == 0
    assert len(PHONE.findall(text)) >= 10
    contacts = [value for holder in HOUSEHOLD["holders"] for value in holder["contact"].values()]
    hosts = [found[1] for value in contacts if (found := EMAIL.fullmatch(value))]
    assert set(hosts) == {"example.org"}


def test_three_questions_show_the_three_outcomes() -> None:
    outcomes = [question["expect"] for question in HOUSEHOLD["questions"]]
    assert outcomes == ["answered", "referred", "no_holder_knows"]
    assert {question["as"] for question in HOUSEHOLD["questions"]} <= REGISTERED


def test_the_question_that_is_referred_is_about_one_private_memory_of_somebody_else() -> None:
    asker = HOUSEHOLD["questions"][1]["as"]
    about = [memory for memory in MEMORIES if "notary" in memory["text"].casefold()]
    assert [scope(memory) for memory in about] == ["private"]
    assert about[0]["holder_id"] != asker
    assert "recorded_by" not in about[0]
    assert about[0]["visibility"].get("discoverable", True)


def test_the_question_nobody_can_answer_meets_no_memory() -> None:
    words = re.findall(r"\w{5,}", HOUSEHOLD["questions"][2]["question"].casefold())
    assert words
    texts = "\n".join(memory["text"].casefold() for memory in MEMORIES)
    assert not [word for word in words if word[:4] in texts]
