"""The index of exact repeats begins with the text, so that it also finds the same words of whoever wrote them."""

from django.db import migrations, models
from django.db.models.functions import Left


class Migration(migrations.Migration):
    dependencies = [("memories", "0006_names")]

    operations = [
        migrations.RemoveIndex("atom", "idx_atoms_same_text"),
        migrations.AddIndex(
            "atom", models.Index(Left("text", 64), models.F("holder_id"), name="idx_atoms_same_text")
        ),
    ]
