"""With whom a cartridge is shared."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("memories", "0002_indexes"),
    ]

    operations = [
        migrations.CreateModel(
            name="CartridgeShare",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("reader", models.CharField(db_index=True, max_length=220)),
                (
                    "cartridge",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="shares",
                        to="memories.cartridge",
                    ),
                ),
            ],
            options={
                "db_table": "cartridge_shares",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("cartridge", "reader"), name="cartridge_shares_are_unique"
                    )
                ],
            },
        ),
    ]
