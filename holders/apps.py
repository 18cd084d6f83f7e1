"""The app of *who*: registry, sign-in, tokens, who_knows, ask, questions."""

from django.apps import AppConfig


class HoldersConfig(AppConfig):
    """Lends `memories` the names that questions may hold: it never imports us."""

    name = "holders"
    verbose_name = "Holders"

    def ready(self) -> None:
        from holders.registry import called  # noqa: PLC0415  (models are ready only now)
        from memories import names  # noqa: PLC0415

        names.registered = called
