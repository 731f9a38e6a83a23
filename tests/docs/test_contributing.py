"""What contributors are told works, and the forms and hooks for them are whole."""

import re

import pytest
import yaml
from pages import ROOT, run_page
from tools.site.command_line import commands

FORMS = ROOT / ".github" / "ISSUE_TEMPLATE"


def test_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page(ROOT / "CONTRIBUTING.md", tmp_path)


def test_every_file_that_it_names_exists():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    named = set(re.findall(r"`([\w./-]+\.(?:py|md|yaml|txt))`", text))
    package = ROOT / "src" / "semibandit"
    folders = [ROOT, ROOT / "src", package, *package.glob("*/"), *package.glob("data/*/")]
    folders.append(ROOT / "tests/data/formats")
    assert len(named) > 30
    missing = {name for name in named if not any((folder / name).is_file() for folder in folders)}
    assert missing == set()


def test_every_make_target_that_it_names_exists():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert set(re.findall(r"`make ([\w-]+)`", text)) <= set(targets)


@pytest.mark.parametrize("name", ["bug", "feature"])
def test_a_form_asks_for_what_is_needed(name):
    form = yaml.safe_load((FORMS / f"{name}.yml").read_text())
    assert form["name"]
    assert form["description"]
    asked = [one for one in form["body"] if one["type"] != "markdown"]
    assert len({one["id"] for one in asked}) == len(asked)
    assert all(one["attributes"]["label"] for one in asked)
    assert any(one.get("validations", {}).get("required") for one in asked)


def test_the_hooks_are_those_of_lint_and_fetch_nothing():
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    assert [repo["repo"] for repo in config["repos"]] == ["local"]
    hooks = config["repos"][0]["hooks"]
    assert all(hook["language"] == "system" for hook in hooks)
    lint = re.search(r"^lint:.*?\n\n", (ROOT / "Makefile").read_text(), re.DOTALL | re.MULTILINE)[0]
    tools = re.findall(r"\$\(BIN\)/(.*)", lint)
    for tool in tools:
        words = tool.replace(" --check", "").removesuffix(" .")
        assert any(hook["entry"].removeprefix(".venv/bin/").startswith(words) for hook in hooks)


def test_security_names_no_address_and_options_that_exist():
    text = (ROOT / "SECURITY.md").read_text()
    assert not re.search(r"\S@\S", text)
    serve = next(one for name, one, _ in commands() if name == "semibandit serve")
    options = {option for param in serve.params for option in param.opts}
    assert set(re.findall(r"`(--[\w-]+)", text)) <= options
