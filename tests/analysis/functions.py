"""Functions for test_studies.py, in a file that is imported quickly."""
import time


def bowl(x, kernel, degree, request):
    """Fails on a part of the domain."""
    assert (degree is None) == (kernel == "rbf") and request["id"] > 0
    if x > 0.5:
        with open("failed", "a") as file:
            file.write("once\n")
        raise ValueError("too\n hot")
    return {"value": -x * x - (degree or 0), "constraints": {"size": x - 0.4}, "cost": 2 + x, "duration": 3}


def slow(x):
    time.sleep(0.1)
    return x
