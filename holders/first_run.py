"""The first run: the code that proves one can read the server's own screen, and what the set-up writes.

While nobody can sign in, `serve` prints a one-time code; whoever types it at `/` stands for the host. Only
its hash is stored, so a restart prints a new one. The first account closes the door for good.
"""

import hmac
import secrets

from django.db import transaction
from django.utils.translation import gettext

from holders.accounts import any_account, open_account
from holders.models import hash_token
from holders.registry import set_holder
from memories import store, timestamps
from memories.errors import Conflict, Invalid, TooMany
from memories.visibility import CURATORS, parse_visibility

CODE_SETTING = "first_run_code_sha256"
TRIES_SETTING = "first_run_tries"
ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"  # nothing that can be mistaken for another
LENGTH = 8  # 39 bits; with ten tries in ten minutes nobody guesses it
TRIES = 10
TRIES_SECONDS = 600


def first_run_code() -> str | None:
    """A new one-time code for `serve` to print; None when the household already has an account."""
    if any_account():
        return None
    code = "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))
    store.set_setting(CODE_SETTING, hash_token(code))
    store.set_setting(TRIES_SETTING, [])
    return f"{code[:4]}-{code[4:]}"


def check_code(typed: str) -> bool:
    """Whether this is the code that was printed. Raises `TooMany` after ten wrong ones in ten minutes."""
    wanted = store.get_setting(CODE_SETTING)
    if not wanted or any_account():
        return False
    _count_try()
    plain = "".join(character for character in typed.upper() if character.isalnum())[:64]
    return hmac.compare_digest(hash_token(plain), str(wanted))


def _count_try() -> None:
    now = timestamps.from_text(timestamps.now()).timestamp()
    with transaction.atomic():
        recent = [one for one in store.get_setting(TRIES_SETTING, []) if one > now - TRIES_SECONDS]
        if len(recent) >= TRIES:
            raise TooMany(recent[0] + TRIES_SECONDS - now)
        store.set_setting(TRIES_SETTING, [*recent, now])


def set_household(name: str, time_zone: str, default_visibility: str) -> None:
    """Write what the household is called, where it is, and who reads a memory when nobody says."""
    parse_visibility(default_visibility)
    store.set_setting("household_name", name)
    store.set_setting("time_zone", time_zone)
    store.set_setting("default_visibility", default_visibility)


def open_first_account(holder_id: str, name: str, username: str, password: str) -> object:
    """Register the first person as a curator and make her account; the code is used up. Returns the user."""
    with transaction.atomic():
        if any_account():
            raise Conflict(gettext("This household is already set up."))
        if not holder_id:
            raise Invalid(gettext("Choose a short name for yourself."), "holder_id")
        set_holder(None, holder_id, name=name, kind="person", groups=[CURATORS])
        user = open_account(holder_id, username, password, is_staff=True)
        store.set_setting(CODE_SETTING, None)
    return user
