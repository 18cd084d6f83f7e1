"""Questions that people put to each other, and their answers."""

import django.db.models.deletion
import memories.fields
import memories.timestamps
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("holders", "0003_events"),
    ]

    operations = [
        migrations.CreateModel(
            name="Question",
            fields=[
                ("question_id", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("asker_id", models.CharField(db_index=True, max_length=200)),
                ("to_holder", models.CharField(blank=True, db_index=True, default="", max_length=200)),
                ("state", models.CharField(default="open", max_length=16)),
                ("passed_json", models.TextField(default="[]")),
                (
                    "created_at",
                    models.CharField(db_index=True, default=memories.timestamps.now, max_length=29),
                ),
                ("updated_at", models.CharField(default=memories.timestamps.now, max_length=29)),
            ],
            options={
                "db_table": "questions",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ("open", "answered", "closed"))),
                        name="questions_state_is_known",
                    ),
                    models.CheckConstraint(
                        condition=memories.fields.JSONOfType("passed_json", "array"),
                        name="questions_passed_json_is_json",
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
                        name="questions_created_at_is_utc",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("updated_at__isnull", True),
                            memories.fields.MatchesGlob(
                                "updated_at",
                                "[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9].[0-9][0-9][0-9]+00:00",
                            ),
                            _connector="OR",
                        ),
                        name="questions_updated_at_is_utc",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Answer",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("atom_id", models.CharField(db_index=True, max_length=64)),
                ("holder_id", models.CharField(db_index=True, max_length=200)),
                ("helped", models.BooleanField(blank=True, null=True)),
                ("created_at", models.CharField(default=memories.timestamps.now, max_length=29)),
                (
                    "question",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="answers",
                        to="holders.question",
                    ),
                ),
            ],
            options={
                "db_table": "question_answers",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("question", "atom_id"), name="question_answers_are_unique"
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
                        name="question_answers_created_at_is_utc",
                    ),
                ],
            },
        ),
    ]
