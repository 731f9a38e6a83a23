"""Commands in the documentation exist, with the options that they are shown with."""

import re
import shlex
import tomllib

import pytest
import typer
from pages import ROOT, blocks, commands

from semibandit.cli.app import app
from semibandit.experiments.setting import Setting
from semibandit.experiments.sweep import grid

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
COMMAND = typer.main.get_command(app)
INLINE = re.compile(r"`semibandit ([^`]+)`")
OPTION = re.compile(r"--[a-z][a-z-]*")


def shown(page):
    """The commands in the blocks of a page, as words without `semibandit`."""
    for block in blocks(page.read_text()):
        if block.kind == "sh":
            lines = block.text.replace("\\\n", " ").splitlines()
        elif block.kind == "console":
            lines = [command for command, _ in commands(block.text)]
        else:
            continue
        for line in lines:
            words = shlex.split(line, comments=True)
            if words[:1] == ["semibandit"] and "..." not in words:
                yield words[1:]


def found(words):
    """The command that these words call, and its arguments."""
    command = COMMAND
    while hasattr(command, "commands"):
        name, *words = words
        assert name in command.commands, f"there is no command {name!r}"
        command = command.commands[name]
    return command, words


def test_commands_in_blocks_can_be_parsed():
    for page in PAGES:
        for words in shown(page):
            command, arguments = found(words)
            context = command.make_context(command.name, arguments, resilient_parsing=False)
            context.close()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_in_sentences_have_the_options_they_are_shown_with(page):
    for text in INLINE.findall(page.read_text()):
        words = text.split()
        if words[0].startswith("-"):  # semibandit --version
            continue
        command, _ = found(words)
        known = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
        for option in OPTION.findall(text):
            assert option in known | {"--help"}, f"`semibandit {text}`: there is no {option}"


def test_every_command_is_documented():
    text = "".join(page.read_text() for page in PAGES)
    names = [
        f"semibandit {name} {inner}" if inner else f"semibandit {name}"
        for name, command in COMMAND.commands.items()
        for inner in getattr(command, "commands", [""])
    ]
    assert len(names) > 10
    assert not [name for name in names if name not in text]


def test_plans_of_sweeps_are_settings():
    text = (ROOT / "docs/how-to/data.md").read_text()
    (plan,) = [tomllib.loads(block.text) for block in blocks(text) if block.kind == "toml"]
    runs = [Setting.from_dict({**plan["setting"], **one}) for one in grid(**plan["grid"])]
    assert len(runs) == 9
    assert {run.build(3, 2).width.alpha for run in runs} == {0.1, 0.25, 1.0}
