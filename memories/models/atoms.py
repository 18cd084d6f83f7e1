"""What is remembered: atoms, the files they came from, the situations they are of use in, and what ties them."""

from typing import Any, ClassVar

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Left
from django.utils.translation import gettext_lazy as _

from memories import timestamps
from memories.fields import Fixed, dump_json, read_json
from memories.models.columns import MOMENT, json_check, moment_check, new_atom_id
from memories.visibility import AtomQuerySet

ORIGINS = ("self", "observed", "artifact", "third_party")
PRECISIONS = ("instant", "minute", "hour", "day", "month", "year", "unknown")
MODALITIES = ("text", "code", "image", "pdf_page", "audio", "mixed")
TEXT_KEY = 64  # characters of the text that the index of exact repeats looks at
RELATIONS = ("supports", "contradicts", "derived_from", "cites", "answers", "supersedes")

AUDIENCE_SQL = """
CASE
  WHEN NOT json_valid(visibility_json) THEN 'closed'
  WHEN json_type(visibility_json) <> 'object' THEN 'closed'
  WHEN visibility_json = '{}' THEN 'household'
  WHEN json_type(visibility_json, '$.scope') IS NOT 'text' THEN 'closed'
  WHEN json_remove(visibility_json, '$.scope', '$.holders', '$.groups', '$.deny', '$.discoverable') <> '{}'
       THEN 'closed'
  WHEN json_type(visibility_json, '$.holders') IS NOT NULL
       AND json_type(visibility_json, '$.holders') <> 'array' THEN 'closed'
  WHEN json_type(visibility_json, '$.groups') IS NOT NULL
       AND json_type(visibility_json, '$.groups') <> 'array' THEN 'closed'
  WHEN json_type(visibility_json, '$.deny') IS NOT NULL
       AND json_type(visibility_json, '$.deny') <> 'array' THEN 'closed'
  WHEN json_extract(visibility_json, '$.scope') = 'private' THEN 'private'
  WHEN json_extract(visibility_json, '$.scope') = 'holders' THEN 'listed'
  WHEN json_extract(visibility_json, '$.scope') = 'household' THEN
    CASE WHEN coalesce(json_array_length(visibility_json, '$.deny'), 0) = 0
         THEN 'household' ELSE 'household_except' END
  ELSE 'closed'
END
"""

RECORDED_BY_SQL = """
CASE WHEN json_valid(metadata_json) AND json_type(metadata_json, '$.recorded_by') = 'text'
     THEN json_extract(metadata_json, '$.recorded_by') ELSE '' END
"""

DISCOVERABLE_SQL = """
CASE WHEN NOT json_valid(visibility_json) THEN 0
     WHEN json_type(visibility_json) <> 'object' THEN 0
     WHEN json_type(visibility_json, '$.discoverable') IS NULL THEN 1
     ELSE json_type(visibility_json, '$.discoverable') = 'true' END
"""

# What somebody else wrote down for a holder is her knowledge only once she confirms it.
COUNTS_SQL = """
CASE WHEN origin <> 'third_party' THEN 1
     WHEN json_valid(metadata_json) AND json_type(metadata_json, '$.confirmed') = 'true' THEN 1
     ELSE 0 END
"""


class Source(models.Model):
    """The file or message that atoms came from, stored once by its sha256."""

    source_id = models.CharField(primary_key=True, max_length=64, default=new_atom_id)
    path = models.TextField()
    kind = models.CharField(max_length=32)
    mime = models.CharField(max_length=127)
    sha256 = models.CharField(max_length=64, db_index=True)
    size_bytes = models.BigIntegerField()
    created_at = models.CharField(default=timestamps.now, **MOMENT)
    metadata_json = models.TextField(default="{}")

    class Meta:
        db_table = "sources"
        verbose_name = _("source")
        verbose_name_plural = _("sources")
        constraints: ClassVar = [
            json_check("sources", "metadata_json", "object"),
            models.CheckConstraint(condition=Q(size_bytes__gte=0), name="sources_size_is_not_negative"),
            moment_check("sources", "created_at"),
        ]

    def __str__(self) -> str:
        return f"source {self.source_id}"


class Atom(models.Model):
    """One remembered statement: whose, from where, when true, and in which situation it may be used."""

    id = models.BigAutoField(primary_key=True)
    atom_id = models.CharField(max_length=64, unique=True, default=new_atom_id)
    source_ref = models.ForeignKey(
        Source, null=True, blank=True, on_delete=models.CASCADE, db_column="source_id", related_name="atoms"
    )
    modality = models.CharField(max_length=16, default="text", db_default="text")
    source = models.TextField(default="", db_default="", blank=True)
    ingested_at = models.CharField(default=timestamps.now, **MOMENT)
    updated_at = models.CharField(default=timestamps.now, **MOMENT)
    text = models.TextField()
    image_ref = models.TextField(null=True, blank=True)
    embedding_refs_json = models.TextField(default="[]", db_default="[]")
    layout_json = models.TextField(null=True, blank=True)
    relations_json = models.TextField(default="[]", db_default="[]")
    trust_json = models.TextField(default="{}", db_default="{}")
    token_equivalent = models.PositiveIntegerField(default=1, db_default=1)
    metadata_json = models.TextField(default="{}", db_default="{}")
    holder_id = models.CharField(max_length=200, default="", db_default="", blank=True)
    origin = models.CharField(max_length=16, default="artifact", db_default="artifact")
    scenario = models.CharField(max_length=200, default="", db_default="", blank=True)
    tags = models.TextField(default="[]", db_default="[]")
    event_time = models.CharField(null=True, blank=True, **MOMENT)
    event_time_end = models.CharField(null=True, blank=True, **MOMENT)
    event_time_precision = models.CharField(max_length=8, default="unknown", db_default="unknown")
    event_time_source = models.CharField(max_length=16, default="", db_default="", blank=True)
    valid_from = models.CharField(null=True, blank=True, **MOMENT)
    valid_to = models.CharField(null=True, blank=True, **MOMENT)
    supersedes_json = models.TextField(default="[]", db_default="[]")
    visibility_json = models.TextField(default="{}", db_default="{}")
    retention_until = models.CharField(null=True, blank=True, **MOMENT)
    audience = models.GeneratedField(
        expression=Fixed(AUDIENCE_SQL), output_field=models.CharField(max_length=16), db_persist=True
    )
    recorded_by = models.GeneratedField(
        expression=Fixed(RECORDED_BY_SQL), output_field=models.CharField(max_length=200), db_persist=True
    )
    discoverable = models.GeneratedField(
        expression=Fixed(DISCOVERABLE_SQL), output_field=models.BooleanField(), db_persist=True
    )

    counts_for_holder = models.GeneratedField(
        expression=Fixed(COUNTS_SQL), output_field=models.BooleanField(), db_persist=True
    )

    objects = AtomQuerySet.as_manager()

    class Meta:
        db_table = "atoms"
        verbose_name = _("memory")
        verbose_name_plural = _("memories")
        indexes: ClassVar = [
            models.Index(fields=["modality", "ingested_at"], name="idx_atoms_modality"),
            models.Index(fields=["holder_id", "ingested_at"], name="idx_atoms_holder"),
            models.Index(fields=["scenario", "ingested_at"], name="idx_atoms_scenario"),
            models.Index(fields=["origin", "ingested_at"], name="idx_atoms_origin"),
            models.Index(fields=["audience", "ingested_at"], name="idx_atoms_audience"),
            models.Index(fields=["ingested_at"], condition=Q(valid_to__isnull=False), name="idx_atoms_ending"),
            models.Index(fields=["ingested_at"], condition=Q(retention_until__isnull=False), name="idx_atoms_lapsing"),
            models.Index(fields=["valid_to"], name="idx_atoms_valid_to"),
            models.Index(fields=["recorded_by"], name="idx_atoms_recorded_by"),
            models.Index(fields=["ingested_at"], name="idx_atoms_ingested_at"),
            models.Index(fields=["event_time"], name="idx_atoms_event_time"),
            models.Index(fields=["source"], condition=~Q(source=""), name="idx_atoms_source"),
            models.Index(Left("text", TEXT_KEY), "holder_id", name="idx_atoms_same_text"),
            models.Index(
                fields=[
                    "audience", "holder_id", "recorded_by", "valid_to", "valid_from", "retention_until", "scenario",
                ],
                name="idx_atoms_readable",
            ),
        ]  # fmt: skip
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(origin__in=ORIGINS), name="atoms_origin_is_known"),
            models.CheckConstraint(condition=Q(modality__in=MODALITIES), name="atoms_modality_is_known"),
            models.CheckConstraint(
                condition=Q(event_time_precision__in=PRECISIONS), name="atoms_precision_is_known"
            ),
            models.CheckConstraint(condition=Q(token_equivalent__gte=1), name="atoms_token_equivalent_is_positive"),
            models.CheckConstraint(condition=~Q(atom_id=""), name="atoms_atom_id_is_given"),
            models.CheckConstraint(condition=~Q(text=""), name="atoms_text_is_given"),
            models.CheckConstraint(
                condition=Q(event_time_end__isnull=True) | Q(event_time_end__gte=F("event_time")),
                name="atoms_event_ends_after_it_begins",
            ),
            models.CheckConstraint(
                condition=Q(valid_to__isnull=True) | Q(valid_from__isnull=True) | Q(valid_to__gte=F("valid_from")),
                name="atoms_validity_ends_after_it_begins",
            ),
            json_check("atoms", "embedding_refs_json", "array"),
            json_check("atoms", "layout_json"),
            json_check("atoms", "relations_json", "array"),
            json_check("atoms", "trust_json", "object"),
            json_check("atoms", "metadata_json", "object"),
            json_check("atoms", "tags", "array"),
            json_check("atoms", "supersedes_json", "array"),
            json_check("atoms", "visibility_json", "object"),
            *(
                moment_check("atoms", column)
                for column in (
                    "ingested_at", "updated_at", "event_time", "event_time_end",
                    "valid_from", "valid_to", "retention_until",
                )
            ),
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"memory {self.atom_id}"

    @property
    def tag_list(self) -> list[str]:
        """The tags; malformed JSON reads as none."""
        return [tag for tag in read_json(self.tags, list, []) if isinstance(tag, str)]

    @property
    def supersedes(self) -> list[str]:
        """Ids of the atoms this one replaced, unfiltered: faces show only those their viewer may read."""
        return [one for one in read_json(self.supersedes_json, list, []) if isinstance(one, str)]

    @property
    def metadata(self) -> dict[str, Any]:
        """Free-form details that have no column, such as `recorded_by`."""
        return dict(read_json(self.metadata_json, dict, {}))

    def set_metadata(self, **changes: Any) -> None:
        """Merge `changes` into the metadata; a value of None takes the key away."""
        merged = self.metadata | changes
        self.metadata_json = dump_json({key: value for key, value in merged.items() if value is not None})


class Scenario(models.Model):
    """A curated situation: what is free text on the atom gets a description and a default visibility."""

    name = models.CharField(max_length=200, unique=True)
    description = models.TextField(default="", blank=True)
    default_visibility_json = models.TextField(null=True, blank=True)

    class Meta:
        db_table = "scenarios"
        verbose_name = _("scenario")
        verbose_name_plural = _("scenarios")
        constraints: ClassVar = [json_check("scenarios", "default_visibility_json")]

    def __str__(self) -> str:
        return self.name


class EvidenceEdge(models.Model):
    """A directed statement about two atoms: this one supports, contradicts, answers … that one."""

    from_atom_id = models.CharField(max_length=64, db_index=True)
    to_atom_id = models.CharField(max_length=64, db_index=True)
    relation = models.CharField(max_length=32)
    confidence = models.FloatField(default=1.0)
    metadata_json = models.TextField(default="{}")

    class Meta:
        db_table = "evidence_edges"
        verbose_name = _("evidence edge")
        verbose_name_plural = _("evidence edges")
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(relation__in=RELATIONS), name="edges_relation_is_known"),
            models.CheckConstraint(
                condition=Q(confidence__gte=0.0, confidence__lte=1.0), name="edges_confidence_is_a_share"
            ),
            json_check("evidence_edges", "metadata_json", "object"),
        ]

    def __str__(self) -> str:
        return f"{self.from_atom_id} {self.relation} {self.to_atom_id}"
