"""Accounts: who may make one, and which holder it signs in as.

There is no open sign-up. An account is made by the first run, by an invitation or by the host's command line,
always for one holder id; registering a holder never links a sign-in.
"""

from typing import TYPE_CHECKING, Any

from allauth.account.adapter import DefaultAccountAdapter
from django.contrib.auth import get_user_model
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.utils.translation import gettext as _

from holders.models import SignIn
from memories.errors import Conflict, Invalid

if TYPE_CHECKING:
    from django.contrib.auth.models import User
else:
    User = get_user_model()


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """django-allauth's door, with no way in from the street."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Nobody signs up by herself."""
        return False


def any_account() -> bool:
    """Whether anybody can sign in as a holder yet."""
    return SignIn.objects.exists()


def open_account(holder_id: str, username: str, password: str, **flags: Any) -> "User":
    """Make an account that signs in as `holder_id`.

    Raises `Invalid` for a name or password that will not do, `Conflict` when the holder has an account.
    """
    model = get_user_model()
    user = model(username=model.normalize_username(username.strip()), **flags)
    _check(user, password)
    user.set_password(password)
    try:
        with transaction.atomic():
            if SignIn.objects.filter(holder_id=holder_id).exists():
                raise Conflict(_("There is already an account for this person."))
            user.save()
            SignIn.objects.create(user=user, holder_id=holder_id)
    except IntegrityError:
        raise Conflict(_("This name to sign in with is taken; choose another.")) from None
    return user


def _check(user: "User", password: str) -> None:
    try:
        user._meta.get_field("username").run_validators(user.username)
    except ValidationError as error:
        raise Invalid(error.messages[0], "username") from None
    if not user.username or type(user).objects.filter(username__iexact=user.username).exists():
        raise Invalid(_("This name to sign in with is taken; choose another."), "username")
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise Invalid(" ".join(error.messages), "password") from None
