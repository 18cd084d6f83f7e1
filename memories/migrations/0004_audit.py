"""What was removed, when, whose and how many: lines without any text."""

from django.db import migrations, models

import memories.fields
import memories.timestamps


class Migration(migrations.Migration):
    dependencies = [
        ("memories", "0003_cartridge_share"),
    ]

    operations = [
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.CharField(default=memories.timestamps.now, max_length=29)),
                ("action", models.CharField(max_length=16)),
                ("holder_id", models.CharField(blank=True, default="", max_length=200)),
                ("by", models.CharField(blank=True, default="", max_length=200)),
                ("count", models.PositiveIntegerField()),
            ],
            options={
                "db_table": "audit_entries",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("at__isnull", True),
                            memories.fields.MatchesGlob(
                                "at",
                                "[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9].[0-9][0-9][0-9]+00:00",
                            ),
                            _connector="OR",
                        ),
                        name="audit_entries_at_is_utc",
                    )
                ],
            },
        ),
    ]
