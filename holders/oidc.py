"""Sign-in through the household's own OpenID Connect server (only loaded when one is configured).

It opens accounts that exist: whoever is signed in links her identity there to her account, and may then sign in
with it. An identity that is linked to no account is turned away.
"""

from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.http import HttpRequest


class SocialAccountAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """django-allauth's door for other servers' identities, with no way in from the street."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: object) -> bool:
        """Nobody signs up by herself."""
        return False
