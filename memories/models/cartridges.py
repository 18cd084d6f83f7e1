"""Named bundles of atoms: what is in them, who looks only there, with whom they are shared."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from memories import timestamps
from memories.models.atoms import Atom
from memories.models.columns import MOMENT, json_check, moment_check, new_atom_id


class Cartridge(models.Model):
    """A named bundle of atoms that can be mounted, exported and imported."""

    cartridge_id = models.CharField(primary_key=True, max_length=64, default=new_atom_id)
    name = models.CharField(max_length=200)
    owner_id = models.CharField(max_length=200, default="", db_index=True)
    root_path = models.TextField(default="", blank=True)
    manifest_json = models.TextField(default="{}")
    dna = models.CharField(max_length=64, null=True, blank=True)
    token_equivalent = models.PositiveIntegerField(default=0)
    created_at = models.CharField(default=timestamps.now, **MOMENT)
    atoms = models.ManyToManyField(Atom, through="CartridgeAtom", related_name="cartridges")

    class Meta:
        db_table = "cartridges"
        verbose_name = _("cartridge")
        verbose_name_plural = _("cartridges")
        constraints: ClassVar = [
            json_check("cartridges", "manifest_json", "object"),
            moment_check("cartridges", "created_at"),
        ]

    def __str__(self) -> str:
        return f"cartridge {self.cartridge_id}"


class CartridgeAtom(models.Model):
    """Membership lives in the store, so that mounting can scope a question to the atoms a cartridge holds."""

    cartridge = models.ForeignKey(Cartridge, on_delete=models.CASCADE)
    atom = models.ForeignKey(Atom, to_field="atom_id", on_delete=models.CASCADE)
    added_at = models.CharField(default=timestamps.now, **MOMENT)

    class Meta:
        db_table = "cartridge_atoms"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["cartridge", "atom"], name="cartridge_atoms_are_unique")
        ]

    def __str__(self) -> str:
        return f"{self.cartridge_id}/{self.atom_id}"


class Mount(models.Model):
    """One holder's mounted cartridge: it scopes that holder's questions and nobody else's."""

    holder_id = models.CharField(max_length=200)
    cartridge = models.ForeignKey(Cartridge, on_delete=models.CASCADE, related_name="mounts")
    mounted_at = models.CharField(default=timestamps.now, **MOMENT)

    class Meta:
        db_table = "mounts"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["holder_id", "cartridge"], name="mounts_are_unique")
        ]

    def __str__(self) -> str:
        return f"{self.holder_id} mounts {self.cartridge_id}"


class CartridgeShare(models.Model):
    """With whom a cartridge's owner shares it: `holder:<id>` or `group:<name>`. It lets nobody read more atoms."""

    cartridge = models.ForeignKey(Cartridge, on_delete=models.CASCADE, related_name="shares")
    reader = models.CharField(max_length=220, db_index=True)

    class Meta:
        db_table = "cartridge_shares"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["cartridge", "reader"], name="cartridge_shares_are_unique")
        ]

    def __str__(self) -> str:
        return f"{self.cartridge_id} for {self.reader}"
