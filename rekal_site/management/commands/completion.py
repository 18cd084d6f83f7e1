"""`completion`: what a shell must be told so that the tab key completes commands and their options."""

from typing import Any

from django.core.management.base import CommandParser

from memories.visibility import Viewer
from rekal_site.management.base import RekalCommand

# Django's own command runner completes when it is asked like this; zsh speaks bash's language once told to.
BASH = """\
_rekal_completion() {
    COMPREPLY=( $( COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD=$COMP_CWORD DJANGO_AUTO_COMPLETE=1 "$1" 2>/dev/null ) )
}
complete -o default -F _rekal_completion rekal
"""
SCRIPTS = {"bash": BASH, "zsh": f"autoload -U +X bashcompinit && bashcompinit\n{BASH}"}


class Command(RekalCommand):
    """Prints a script for the shell's start file; it needs no store."""

    help = "Print the script that lets bash or zsh complete rekal's commands and options."
    examples = ("completion bash >> ~/.bashrc", "completion zsh >> ~/.zshrc")
    needs_viewer = False
    takes_viewer = False
    needs_store = False

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("shell", choices=sorted(SCRIPTS), help="the shell that reads it")

    def run(self, viewer: Viewer | None, **options: Any) -> int | None:
        script = SCRIPTS[options["shell"]]
        if options["json"]:
            self.show({"script": script}, options, [])
        else:
            self.stdout.write(script, ending="")
        return None
