"""What tests of pages share: what is kept, what a reply says, how htmx asks."""

from typing import Any

from django.contrib.auth import get_user_model
from django.test import Client

from holders.models import SignIn
from memories.remember import remember

PASSWORD = "four ordinary brown words"
HTMX = {"HTTP_HX_REQUEST": "true"}


def keep(viewer: Any, text: str, **given: Any) -> Any:
    """A memory of the viewer's that everyone at home may read, unless said otherwise."""
    return remember(viewer, text, **{"visibility": "household", **given})


def text_of(response: Any) -> str:
    """The page as text."""
    return response.content.decode()


def signed_in(holder_id: str) -> Client:
    """A browser in which somebody is signed in."""
    link = SignIn.objects.filter(holder_id=holder_id).first()
    user = link.user if link else get_user_model().objects.create_user(holder_id, password=None)
    SignIn.objects.get_or_create(user=user, defaults={"holder_id": holder_id})
    client = Client()
    client.force_login(user)
    return client
