"""What the store keeps for its own sake: cached vectors, settings, replies that can be repeated, and the audit log."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from memories import timestamps
from memories.models.columns import MOMENT, json_check, moment_check


class CacheEvent(models.Model):
    """Hits, misses and writes of the embedding cache, one row a batch (`metadata_json.count`)."""

    ts = models.CharField(default=timestamps.now, **MOMENT)
    layer = models.CharField(max_length=64)
    cache_key = models.TextField()
    event = models.CharField(max_length=16)
    bytes_estimate = models.BigIntegerField()
    metadata_json = models.TextField(default="{}")

    class Meta:
        db_table = "cache_events"
        verbose_name = _("cache event")
        verbose_name_plural = _("cache events")
        constraints: ClassVar = [json_check("cache_events", "metadata_json", "object")]

    def __str__(self) -> str:
        return f"{self.layer} {self.event} {self.ts}"


class CachedEmbedding(models.Model):
    """A vector kept under sha256(model, text), so that the same text is not embedded twice."""

    key = models.CharField(primary_key=True, max_length=64)
    vector = models.BinaryField()

    class Meta:
        db_table = "embedding_cache"

    def __str__(self) -> str:
        return self.key


class StoreSetting(models.Model):
    """What the store itself must know: its embedding model, the household's zone, name and default visibility."""

    key = models.CharField(primary_key=True, max_length=64)
    value_json = models.TextField()

    class Meta:
        db_table = "store_settings"
        constraints: ClassVar = [json_check("store_settings", "value_json")]

    def __str__(self) -> str:
        return self.key


class IdempotentReply(models.Model):
    """The reply to a POST that carried an `Idempotency-Key`, so that repeating it creates nothing new."""

    holder_id = models.CharField(max_length=200)
    key = models.CharField(max_length=200)
    request_sha256 = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField()
    atom_id = models.CharField(max_length=64, db_index=True)
    created_at = models.CharField(default=timestamps.now, **MOMENT)

    class Meta:
        db_table = "idempotent_replies"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["holder_id", "key"], name="idempotency_keys_are_unique")
        ]

    def __str__(self) -> str:
        return f"{self.holder_id} {self.key}"


class AuditEntry(models.Model):
    """A removal of many memories: when, by what, whose and how many; no text, no ids, no scenario."""

    at = models.CharField(default=timestamps.now, **MOMENT)
    action = models.CharField(max_length=16)
    holder_id = models.CharField(max_length=200, default="", blank=True)
    by = models.CharField(max_length=200, default="", blank=True)
    count = models.PositiveIntegerField()

    class Meta:
        db_table = "audit_entries"
        verbose_name = _("audit entry")
        verbose_name_plural = _("audit entries")
        constraints: ClassVar = [moment_check("audit_entries", "at")]

    def __str__(self) -> str:
        return f"{self.action} {self.at}"
