"""The gallery: a page for each example, with its picture, what it prints, and its code."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Example", "examples", "navigation", "pages"]

FOLDER = Path(__file__).parents[2] / "examples"
FIRST = ("news", "shop", "how_many")  # the easiest to follow; the others come by name
INDEX = """# Gallery

Programs of a page or two that run as they are, each in less than a minute, in a clone of the
repository:

```sh
pip install '.[fast,plot,download]'
python examples/news.py  # writes news.svg here
```

Every picture and every printed line on these pages came out of the code.
"""


@dataclass(frozen=True)
class Example:
    """A file of `examples/`: its title, the rest of its docstring, and its code without it."""

    path: Path
    title: str
    text: str
    code: str

    @property
    def name(self) -> str:
        """The name of the file, without its ending."""
        return self.path.stem

    @property
    def output(self) -> str:
        """What it printed."""
        return self.path.parent.joinpath("output", f"{self.name}.txt").read_text(encoding="utf-8")

    @property
    def picture(self) -> Path:
        """What it drew."""
        return self.path.parent / "output" / f"{self.name}.svg"

    @property
    def summary(self) -> str:
        """The first two sentences of its text."""
        paragraph = " ".join(self.text.split("\n\n")[0].split())
        return ". ".join(paragraph.split(". ")[:2]).removesuffix(".") + "."


def examples(folder: Path = FOLDER) -> list[Example]:
    """Every example, in the order of the gallery."""
    found = [read_example(path) for path in sorted(folder.glob("[!_]*.py"))]
    return sorted(found, key=lambda one: (*FIRST, one.name).index(one.name))


def read_example(path: Path) -> Example:
    """Divide a file into its docstring and its code."""
    source = path.read_text(encoding="utf-8")
    docstring = ast.parse(source).body[0]
    title, _, text = ast.get_docstring(ast.parse(source)).partition("\n")
    code = "\n".join(source.splitlines()[docstring.end_lineno :]).strip("\n")
    return Example(path, title.strip().removesuffix("."), text.strip(), code)


def navigation() -> list[str]:
    """The pages of the gallery, in the order of the navigation."""
    return ["gallery/index.md", *(f"gallery/{one.name}.md" for one in examples())]


def pages(folder: Path = FOLDER) -> dict[str, str | Path]:
    """The overview, and a page and a picture for each example."""
    found: dict[str, str | Path] = {"gallery/index.md": overview(examples(folder))}
    for example in examples(folder):
        found[f"gallery/{example.name}.md"] = page(example)
        found[f"gallery/{example.name}.svg"] = example.picture
    return found


def overview(shown: list[Example]) -> str:
    """A card for each example."""
    cards = "".join(card(example) for example in shown)
    return f'{INDEX}\n<div class="grid cards gallery" markdown>\n\n{cards}</div>\n'


def card(example: Example) -> str:
    """Its picture, title and first sentences, as an entry of a list."""
    name = example.name
    return f"""-   [![{example.title}]({name}.svg){{ loading=lazy }}]({name}.md)

    **[{example.title}]({name}.md)**

    {example.summary}

"""


def page(example: Example) -> str:
    """All of an example. Fences have four backticks, because what they hold may have three."""
    return f"""# {example.title}

{example.text}

![{example.title}: what the code below draws]({example.name}.svg)

## What it prints

````text
{example.output.rstrip()}
````

## The code

In a clone of the repository, after `pip install '.[fast,plot,download]'`,
`python examples/{example.name}.py` runs it and writes the picture into the current folder.

````python
{example.code}
````
"""
