"""Vowpal Wabbit's text format, and its options at their best here."""


def features(x):
    """The features of a dense context; those near 0 are left out, as in any sparse text."""
    return " ".join([f"{c}:{v:.5g}" for c, v in enumerate(x.tolist()) if abs(v) > 1e-4])


def updates(rate):
    """Options for plain gradient steps at this rate, or for COIN betting if it is None.

    Plain steps keep one number per weight, and so are twice as fast as the default, which keeps
    three; and they learn better from features near 0, which the default scales up. Actions share no
    constant, so that those of which nothing is known stay at cost 0.
    """
    return "--coin" if rate is None else f"--sgd -l {rate} --power_t 0 --noconstant"
