"""The app of *who*: registry, sign-in, tokens, who_knows, ask, questions."""

from django.apps import AppConfig


class HoldersConfig(AppConfig):
    """Plain app configuration."""

    name = "holders"
    verbose_name = "Holders"
