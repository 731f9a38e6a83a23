"""Environments that the project is tested in: which Pythons, which versions of what it needs.

python -m tools.environments pythons       the interpreters of this machine, from 3.11 on
python -m tools.environments lowest        the lowest versions that pyproject.toml allows
python -m tools.environments constraints   writes constraints.txt anew (make constraints)
"""
