"""Progress bars: shown if they are asked for, silent if not, and steps go to whoever counts."""

from semibandit._util.progress import byte_progress_bar, progress_bar


def test_a_bar_is_shown_only_if_asked_for_or_on_a_terminal(capsys):
    for option in (False, None):  # stderr is no terminal here
        with progress_bar(3, "rounds", option) as advance, byte_progress_bar(option) as update:
            advance(3)
            update("fetching", 1, 2)
    assert capsys.readouterr().err == ""
    with progress_bar(3, "rounds", True) as advance:
        advance(3)
    with byte_progress_bar(True) as update:
        update("fetching", 1, 2)
        update("fetching", 2, 2)
    shown = capsys.readouterr().err
    assert "rounds" in shown
    assert "3/3" in shown
    assert "fetching" in shown
    assert "2/2 bytes" in shown


def test_a_function_gets_the_steps(capsys):
    steps = []
    with progress_bar(5, "rounds", steps.append) as advance:
        advance(2)
        advance(3)
    assert steps == [2, 3]
    assert capsys.readouterr().err == ""
