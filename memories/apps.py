"""The app of *what*: atoms, sources, scenarios, cartridges, edges."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class MemoriesConfig(AppConfig):
    """Registers the store's system checks."""

    name = "memories"
    verbose_name = _("Memories")

    def ready(self) -> None:
        from memories import checks  # noqa: F401, PLC0415  (registering is the import's effect)
