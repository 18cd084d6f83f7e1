"""The app of *who*: registry, sign-in, tokens, who_knows, ask, questions."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class HoldersConfig(AppConfig):
    """Lends `memories` the names that questions may hold and the topics it caches vectors of: it never imports us."""

    name = "holders"
    verbose_name = _("Holders")

    def ready(self) -> None:
        from holders.registry import called  # noqa: PLC0415  (models are ready only now)
        from holders.topics import every_topic  # noqa: PLC0415
        from memories import names  # noqa: PLC0415
        from memories.embedding import cache  # noqa: PLC0415

        names.registered = called
        cache.other_texts = every_topic
