"""Priors of parameters, under the names of problem files."""


class Prior:
    """A distribution as problem files write it: str(occam.beta(1, 1)) == "beta(1, 1)"."""

    def __init__(self, text):
        self.text = text

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"occam.{self.text}"

    def __eq__(self, other):
        return isinstance(other, Prior) and self.text == other.text

    def __hash__(self):
        return hash(self.text)


def _number(value):
    return repr(float(value)) if float(value) != int(float(value)) else repr(int(float(value)))


def _text(value):
    value = float(value)
    if value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    return _number(value)


def _prior(name, *arguments):
    return Prior(f"{name}({', '.join(_text(a) for a in arguments)})")


def fixed(value):
    """Always this value."""
    return Prior(_text(value))


def uniform(low, high):
    """Any value from low to high."""
    return _prior("uniform", low, high)


def normal(mean, sd):
    """Normal, with its standard deviation."""
    return _prior("normal", mean, sd)


def truncated_normal(mean, sd, low, high):
    """Normal, cut off at low and high, which may be infinite."""
    return _prior("truncated_normal", mean, sd, low, high)


def half_normal(sd):
    """The absolute value of a normal with mean 0."""
    return _prior("half_normal", sd)


def lognormal(log_mean, log_sd):
    """exp of a normal."""
    return _prior("lognormal", log_mean, log_sd)


def log_uniform(low, high):
    """Any value from low, above 0, to high, equally likely in every order of magnitude."""
    return _prior("log_uniform", low, high)


def exponential(rate):
    """Exponential with mean 1 / rate."""
    return _prior("exponential", rate)


def gamma(shape, scale):
    """Gamma with mean shape * scale."""
    return _prior("gamma", shape, scale)


def inverse_gamma(shape, scale):
    """1 / x is gamma(shape, 1 / scale)."""
    return _prior("inverse_gamma", shape, scale)


def beta(a, b):
    """Beta on 0 to 1."""
    return _prior("beta", a, b)


def discrete_uniform(low, high):
    """Whole numbers from low to high."""
    return _prior("discrete_uniform", low, high)
