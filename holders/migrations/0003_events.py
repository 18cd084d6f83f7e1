"""Events that holders are told of, and the webhooks that carry them."""

import memories.fields
import memories.timestamps
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("holders", "0002_invite"),
    ]

    operations = [
        migrations.CreateModel(
            name="Event",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("kind", models.CharField(max_length=16)),
                ("holder_id", models.CharField(db_index=True, max_length=200)),
                ("subject", models.CharField(max_length=64)),
                ("atom_id", models.CharField(blank=True, default="", max_length=64)),
                ("due", models.CharField(blank=True, default="", max_length=29)),
                (
                    "created_at",
                    models.CharField(db_index=True, default=memories.timestamps.now, max_length=29),
                ),
            ],
            options={
                "db_table": "events",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ("question", "answered", "expiring"))),
                        name="events_kind_is_known",
                    ),
                    models.UniqueConstraint(
                        fields=("kind", "holder_id", "subject", "atom_id", "due"), name="events_are_told_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("created_at__isnull", True),
                            memories.fields.MatchesGlob(
                                "created_at",
                                "[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9].[0-9][0-9][0-9]+00:00",
                            ),
                            _connector="OR",
                        ),
                        name="events_created_at_is_utc",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Webhook",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("holder_id", models.CharField(db_index=True, max_length=200)),
                ("url", models.CharField(max_length=500)),
                ("secret", models.CharField(max_length=64)),
                ("kinds_json", models.TextField(default="[]")),
                ("last_event_id", models.BigIntegerField(default=0)),
                ("failures", models.PositiveIntegerField(default=0)),
                ("next_try_at", models.CharField(blank=True, max_length=29, null=True)),
                ("created_at", models.CharField(default=memories.timestamps.now, max_length=29)),
            ],
            options={
                "db_table": "webhooks",
                "constraints": [
                    models.CheckConstraint(
                        condition=memories.fields.JSONOfType("kinds_json", "array"),
                        name="webhooks_kinds_json_is_json",
                    ),
                    models.UniqueConstraint(fields=("holder_id", "url"), name="webhooks_are_unique"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("created_at__isnull", True),
                            memories.fields.MatchesGlob(
                                "created_at",
                                "[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9].[0-9][0-9][0-9]+00:00",
                            ),
                            _connector="OR",
                        ),
                        name="webhooks_created_at_is_utc",
                    ),
                ],
            },
        ),
    ]
