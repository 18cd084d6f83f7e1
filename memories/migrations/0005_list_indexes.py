"""Indexes that give a filtered list newest first without sorting: the column, then when it was written down.

Creating an index does not make Django rebuild `atoms`, so triggers and view stay.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memories", "0004_audit")]

    operations = [
        migrations.AlterModelOptions("atom", {"verbose_name": "memory", "verbose_name_plural": "memories"}),
        migrations.AlterModelOptions("auditentry", {"verbose_name_plural": "audit entries"}),
        migrations.RemoveIndex("atom", "idx_atoms_modality"),
        migrations.RemoveIndex("atom", "idx_atoms_holder"),
        migrations.RemoveIndex("atom", "idx_atoms_scenario"),
        migrations.AddIndex(
            "atom", models.Index(fields=["modality", "ingested_at"], name="idx_atoms_modality")
        ),
        migrations.AddIndex(
            "atom", models.Index(fields=["holder_id", "ingested_at"], name="idx_atoms_holder")
        ),
        migrations.AddIndex(
            "atom", models.Index(fields=["scenario", "ingested_at"], name="idx_atoms_scenario")
        ),
        migrations.AddIndex("atom", models.Index(fields=["origin", "ingested_at"], name="idx_atoms_origin")),
        migrations.AddIndex(
            "atom", models.Index(fields=["audience", "ingested_at"], name="idx_atoms_audience")
        ),
        migrations.AddIndex(
            "atom",
            models.Index(
                fields=["ingested_at"], condition=models.Q(valid_to__isnull=False), name="idx_atoms_ending"
            ),
        ),
        migrations.AddIndex(
            "atom",
            models.Index(
                fields=["ingested_at"],
                condition=models.Q(retention_until__isnull=False),
                name="idx_atoms_lapsing",
            ),
        ),
    ]
