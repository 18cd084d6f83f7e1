"""Fills the demo store with its household, through the same verbs that every face uses."""

import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction

from holders.accounts import open_account
from holders.auth import viewer_for
from holders.first_run import set_household
from holders.models import SignIn
from holders.registry import set_holder
from memories.remember import remember
from memories.store import get_setting, set_setting
from memories.visibility import CURATORS

FLAG = "demo"
LOADER_KEYS = {"key", "replaces", "recorded_by", "text"}


@dataclass(frozen=True, slots=True)
class Account:
    """Who signs in under which name."""

    username: str
    holder_id: str
    name: str
    curator: bool


@dataclass(frozen=True, slots=True)
class Question:
    """A question to show, and who asks it."""

    viewer: str
    text: str


def household() -> dict[str, Any]:
    """The holders, the questions and the household's own settings."""
    content: dict[str, Any] = json.loads(files(__package__).joinpath("household.json").read_text("utf-8"))
    return content


def questions() -> list[Question]:
    """The three questions, one for each end a question can come to."""
    return [Question(one["as"], one["question"]) for one in household()["questions"]]


def accounts() -> list[Account]:
    """Everybody of the household who signs in."""
    return [
        Account(one["username"], one["id"], one["name"], CURATORS in one["groups"])
        for one in household()["holders"]
        if one.get("username")
    ]


def is_demo() -> bool:
    """Whether this store was made by the demo."""
    return get_setting(FLAG) is not None


def is_loaded() -> bool:
    """Whether the demo household is in it, whole."""
    return bool(get_setting(FLAG) == "loaded")


def load() -> Iterator[str]:
    """Fill a fresh store, yielding a line about each step."""
    data = household()
    set_setting(FLAG, "begun")
    set_household(data["household"], data["time_zone"], "private")
    for one in data["holders"]:
        set_holder(
            None, one["id"], name=one["name"], kind=one["kind"], knows_about=one["knows_about"],
            contact=one["contact"], groups=one["groups"],
        )  # fmt: skip
    yield f"{len(data['holders'])} holders registered"
    yield from _remember_all()
    set_setting(FLAG, "loaded")


def _remember_all() -> Iterator[str]:
    lines = files(__package__).joinpath("memories.jsonl").read_text("utf-8").splitlines()
    ids: dict[str, str] = {}
    for done, line in enumerate(lines, start=1):
        given = json.loads(line)
        viewer = viewer_for(given.get("recorded_by") or given["holder_id"])
        memory = remember(
            viewer,
            given["text"],
            replaces=[ids[key] for key in given.get("replaces", ())],
            if_new=False,
            **{name: value for name, value in given.items() if name not in LOADER_KEYS},
        )
        ids[given["key"]] = memory.atom_id
        if done % 50 == 0 or done == len(lines):
            yield f"{done} of {len(lines)} memories remembered"


def open_accounts() -> str:
    """Give everybody an account and all of them one new password, which is returned; it is stored nowhere."""
    password = "-".join(secrets.token_hex(2) for _ in range(3))
    users = get_user_model().objects
    with transaction.atomic():
        for account in accounts():
            linked = (
                SignIn.objects.filter(holder_id=account.holder_id).values_list("user_id", flat=True).first()
            )
            if linked is None:
                open_account(account.holder_id, account.username, password, is_staff=account.curator)
            else:
                user = users.get(pk=linked)
                user.set_password(password)
                user.save(update_fields=["password"])
    return password
