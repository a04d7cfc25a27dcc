"""Help pages: plain text, bold headings on a terminal,
drawn without the libraries that draw tables.

Typer's own pages bring rich, markdown and pygments, which load as long as linkwork itself.
"""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

WIDEST = 100
"""Columns of a page; a narrower terminal has its own."""
_Formatter = typer.Context.formatter_class


class Page(_Formatter):  # type: ignore[misc, valid-type]
    """A page being written."""

    def write_heading(self, heading: str) -> None:
        super().write_heading(typer.style(heading, bold=True))

    def write_text(self, text: str) -> None:
        """Paragraphs; an example stays on its line, to be copied."""
        for k, paragraph in enumerate(text.split("\n\n")):
            if k:
                self.write_paragraph()
            if paragraph.startswith("Example"):
                self.write(f"{' ' * self.current_indent}{paragraph.strip()}\n")
            else:
                super().write_text(paragraph)


def _page(command: Any, context: typer.Context) -> str:
    page = Page(width=context.terminal_width, max_width=WIDEST)
    command.format_help(context, page)
    return page.getvalue().rstrip("\n")


class PageCommand(TyperCommand):
    """A command with such a page."""

    def get_help(self, ctx: Any) -> str:
        return _page(self, ctx)


class PageGroup(TyperGroup):
    """A group of commands with such a page: by the alphabet,
    each command with its whole first sentence."""

    def get_help(self, ctx: Any) -> str:
        return _page(self, ctx)

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(super().list_commands(ctx))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        commands = [self.get_command(ctx, name) for name in self.list_commands(ctx)]
        sentences = [
            (c.name, " ".join((c.help or "").split("\n\n")[0].split()))
            for c in commands
            if c is not None
        ]
        with formatter.section("Commands"):
            formatter.write_dl(sentences)
