"""Laws of contexts that change in time, contexts that are announced, and estimates that forget: contexts,
regret and queries of a study against a program of its own (NumPy, SciPy), written from the definitions."""
import functools

import numpy as np
from scipy.stats import kstest, norm

from context_test import GRID, N0, SEEDS, STUDY, T, ContextTest


MOVING = STUDY + """\
  - {name: three_humps_camel, label: linear, law: "linear(normal(0.2, 0.1), 21, normal(0.8, 0.2))"}
  - {name: three_humps_camel, label: jump, law: "jump(normal(0.2, 0.1), 11, normal(0.7, 0.1), 21, normal(0.4, 0.1))"}
  - {name: three_humps_camel, label: table, law: "table(TABLE)"}
  - {name: three_humps_camel, label: periodic, law: "periodic(normal(0.3, 0.05), 12, normal(0.7, 0.15))"}
algorithms:
  - {name: erbo, label: window, window: 8}
  - {name: erbo, label: decay, decay: 0.8}
  - {name: erbo, label: forecast, centre: "linear(normal(0.3, 0.1), 26, normal(0.8, 0.1))", panels: 40}
  - {name: wdrbo, label: ball, window: 8, drift: 0.02, radius: 0.2}
  - {name: sbo_kde, label: kde, window: 12, decay: 0.9, expectation: quadrature, nodes: 24}
  - {name: rrgp_ucb_continuous, label: robust}
"""
LOOSE = np.random.default_rng(4).uniform(0.2, 0.8, 20).round(3)  # means of the laws of the first evaluations
MOVING = MOVING.replace("TABLE", ", ".join(f"normal({mean}, 0.1)" for mean in LOOSE))
ANNOUNCED = STUDY + """\
  - {name: three_humps_camel, label: announced, law: "linear(normal(0.2, 0.1), 21, normal(0.8, 0.2))", context: before}
  - {name: gp_path_box, label: finite, setting: announced, levels: 15, context_levels: 5}
algorithms:
  - {name: cgp_ucb, label: known}
  - {name: gp_ucb, label: blind, beta: fixed, value: 2.25}
"""
NODES = np.linspace(-8, 8, 1001)  # of the standard normal law
WEIGHTS = norm.pdf(NODES) / norm.pdf(NODES).sum()


def mean_and_deviation(problem, t):
    """Parameters of the normal law at evaluation t, from the text of the study."""
    if problem == "jump":
        return (0.2, 0.1) if t < 11 else (0.7, 0.1) if t < 21 else (0.4, 0.1)
    if problem == "table":
        return LOOSE[min(t, len(LOOSE)) - 1], 0.1
    if problem == "periodic":
        share = np.sin(np.pi * (t - 1) / 12) ** 2
        return 0.3 + 0.4 * share, 0.05 + 0.1 * share
    share = min((t - 1) / 20, 1)
    return 0.2 + 0.6 * share, 0.1 + 0.1 * share


def camel(x, c):
    u, v = 2 * x - 1, 2 * np.clip(c, 0, 1) - 1
    return -(2 * u**2 - 1.05 * u**4 + u**6 / 6 + u * v + v**2)


@functools.lru_cache(None)
def moments(mean, deviation):
    """E v and E v^2 of v = 2c - 1 by a fine midpoint rule over the quantiles of the clipped law of c."""
    v = 2 * np.clip(norm.ppf((np.arange(20000) + 0.5) / 20000, mean, deviation), 0, 1) - 1
    return v.mean(), (v**2).mean()


def expected_camel(x, mean, deviation):
    """E f(x, c)."""
    u, (first, second) = 2 * np.asarray(x) - 1, moments(mean, deviation)
    return -(2 * u**2 - 1.05 * u**4 + u**6 / 6) - u * first - second


def weights_of(c, window=None, decay=1.0):
    """The contexts that count, oldest first, and their weights."""
    c = c[-window:] if window else c
    weight = decay ** np.arange(len(c))[::-1]
    return c, weight / weight.sum()

NEAR = """#!/usr/bin/env python3
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    c = request["c"]
    value = -abs(request["x"]["dose"] - c["weight"] / 50) - 0.1 * (c["kind"] == "b")
    print(json.dumps({"id": request["id"], "value": value}), flush=True)
"""
OWN = """\
  - name: external
    label: own
    program: near.py
    seconds: 0.001
    inputs: [dose real 0 2]
    contexts: [weight real 0 100, kind choice a b, rate real 0.01 1 log]
    law: ["linear(normal(0.2, 0.02), 21, normal(0.8, 0.02))", "point(0.9)", "jump(point(0.5), 16, point(2))"]
    control: announced
algorithms: [{name: cgp_ucb, label: known}, {name: gp_ucb, label: blind, beta: fixed, value: 2.25}]
"""
FOLLOW = """#!/usr/bin/env python3
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    answer = {"id": request["id"]}
    if request["do"] == "start":
        answer.update(protocol=request["protocol"], announced=True)
        points = request["space"].get("points")
        assert request["context"]["control"] == "announced"
    elif request["do"] == "ask":
        asked = request["c"]
        x = min(max(request["c"][0], 0), 1)
        answer["x"] = min(points, key=lambda p: abs(p[0] - x)) if points else [x]
        answer["record"] = {"index": request.get("c_index", -1)}
    else:
        assert request["c"] == asked
    print(json.dumps(answer), flush=True)
"""


class MovingLaw(ContextTest):

    def check_regret(self, trial, value, best, recommends=False):
        """value(t, x): F_t; best(t): its maximum. All columns of regret follow from them."""
        x = trial["x"][:, 0]
        chosen = np.append(x[:N0 - 1], trial["recommendation"][N0 - 1:, 0]) if recommends else x
        now = np.array([best(t) - value(t, chosen[t - 1]) for t in range(1, T + 1)])
        simple = np.array([best(t) - value(t, x[:t]).max() for t in range(1, T + 1)])
        np.testing.assert_allclose(trial["instantaneous_regret"], now, atol=3e-6)
        np.testing.assert_allclose(trial["simple_regret"], simple, atol=3e-6)
        np.testing.assert_allclose(trial["cumulative_regret"], np.cumsum(now), atol=1e-4)

    def test_laws_change(self):
        found = self.results(MOVING)
        self.assertEqual(set(found), {"linear", "jump", "table", "periodic"})
        for problem, trials in found.items():
            curve = {t: expected_camel(GRID, *mean_and_deviation(problem, t)) for t in range(1, T + 1)}
            scores = []
            for trial in trials:
                with self.subTest(problem=problem, algorithm=trial["algorithm"]):
                    self.check_regret(
                        trial, lambda t, x: expected_camel(x, *mean_and_deviation(problem, t)),
                        lambda t: curve[t].max(), trial["algorithm"] == "robust")
                    check = getattr(self, "check_" + trial["algorithm"])
                    check(trial, problem) if trial["algorithm"] == "robust" else check(trial)
                c = trial["c"][:, 0]
                scores += [(c[t - 1] - m) / s for t in range(1, T + 1) for m, s in [mean_and_deviation(problem, t)]]
            same = np.array(scores).reshape(len(trials), T)
            self.assertTrue((same == same[:1]).sum() < same.size)  # seeds differ
            self.assertGreater(kstest(same.reshape(6, SEEDS, T)[0].ravel(), "norm").pvalue, 1e-3)

    def check_average(self, trial, **forgetting):
        for t, model, c in self.models(trial):
            seen, weight = weights_of(c, **forgetting)
            self.check_query(trial, t, model.bound(self.designs(trial, t), seen) @ weight)

    def check_window(self, trial):
        self.check_average(trial, window=8)

    def check_decay(self, trial):
        self.check_average(trial, decay=0.8)

    def check_forecast(self, trial):
        for t, model, _ in self.models(trial):
            centre = 0.3 + 0.5 * min((t - 1) / 25, 1) + 0.1 * NODES
            bound = model.bound(self.designs(trial, t), centre)
            self.check_query(trial, t, bound @ WEIGHTS)

    def check_ball(self, trial):
        for t in range(N0 + 1, T + 1):
            count = min(t - 1, 8)
            self.assertAlmostEqual(trial["radius"][t - 1], 0.2 / np.sqrt(count) + 0.02 * (count + 1) / 2, places=12)

    def check_kde(self, trial):
        for t, model, c in self.models(trial):
            seen, weight = weights_of(c, window=12, decay=0.9)
            mean = weight @ seen
            bandwidth = (4 / 3 * (weight**2).sum()) ** 0.2 * np.sqrt(weight @ (seen - mean) ** 2)
            self.assertAlmostEqual(trial["bandwidth"][t - 1], bandwidth, places=12)
            near = np.clip(seen[:, None] + bandwidth * NODES[::4], min(0, seen.min()), max(1, seen.max()))
            share = np.outer(weight, WEIGHTS[::4] / WEIGHTS[::4].sum())
            bound = model.bound(self.designs(trial, t)[:1], near.ravel()) @ share.ravel()
            # clipping has a kink, at which the rule of this test is inexact
            self.assertAlmostEqual(trial["acquisition"][t - 1], bound[0], delta=2e-3)

    def check_robust(self, trial, problem):
        """The upper bound of the mean over the cells of contexts, weighted by the law of the query; the recommendation
        is for the law of the last evaluation."""
        for t, model, _ in self.models(trial):
            levels = int(trial["levels_used"][t - 1])
            cells = np.arange(levels + 1) / levels
            scale, shift = trial["y"][:t - 1].std(ddof=1), trial["y"][:t - 1].mean()
            designs = self.designs(trial, t)

            def average(designs, evaluation, width):
                below = norm.cdf(cells, *mean_and_deviation(problem, evaluation))
                below[0], below[-1] = 0, 1
                bound = model.bound(designs, (cells[1:] + cells[:-1]) / 2, width)
                return shift + scale * bound @ np.diff(below)

            upper = average(designs, t, np.sqrt(trial["confidence"][t - 1]))
            self.assertAlmostEqual(trial["acquisition"][t - 1], upper[0], delta=1e-6)
            mean = average(np.append(trial["recommendation"][t - 2, 0], GRID[::10]), t - 1, 0)
            self.assertGreater(mean[0], mean[1:].max() - 1e-3 * scale)

    def test_contexts_are_announced(self):
        found = self.results(ANNOUNCED)
        for trial in found["announced"]:
            c = trial["c"][:, 0]
            self.check_regret(trial, lambda t, x: camel(x, c[t - 1]), lambda t: camel(GRID, c[t - 1]).max())
            for t, model, _ in self.models(trial) if trial["algorithm"] == "known" else []:
                self.check_query(trial, t, model.bound(self.designs(trial, t), c[t - 1:t])[:, 0])
        blind = [trial for trial in found["finite"] if trial["algorithm"] == "blind"]
        known = [trial for trial in found["finite"] if trial["algorithm"] == "known"]
        self.assertEqual(len(blind), len(known))
        for a, b in zip(blind, known):
            np.testing.assert_array_equal(a["c"], b["c"])  # common random numbers
            self.assertTrue((b["instantaneous_regret"] >= 0).all())
        self.assertLess(sum(b["cumulative_regret"][-1] for b in known), sum(a["cumulative_regret"][-1] for a in blind))

    def test_a_program_gets_the_announced_context(self):
        """A program that asks for x = c_t, and records the number of a finite context."""
        program = self.program("follow.py", FOLLOW)
        head = ANNOUNCED.split("algorithms:")[0]
        found = self.results(head + "algorithms: [{name: external, label: follow, program: follow.py, record: [index]}]\n")
        for trial in found["announced"]:
            c = np.clip(trial["c"][N0:, 0], 0, 1)
            np.testing.assert_array_equal(trial["x"][N0:, 0], c)
            self.assertGreater(np.ptp(c), 0.2)
        for trial in found["finite"]:
            contexts = np.linspace(0, 1, 5)
            np.testing.assert_allclose(contexts[trial["program_index"][N0:].astype(int)], trial["c"][N0:, 0], atol=1e-12)
        program.write_text(FOLLOW.replace(", announced=True", ""))
        self.refused(head + "algorithms: [{name: external, program: follow.py, retries: 0}]\n",
                     "follow.py takes no context that is announced before the decision", '"announced": true')

    def test_programs_as_problems(self):
        """Contexts of a problem that is a program have laws, in shares of their ranges, and may be announced. F is what
        was observed; there is no regret. The program is asked once per evaluation."""
        self.program("near.py", NEAR)
        found = self.results(STUDY + OWN)["own"]
        sums = {}
        for trial in found:
            weight, kind, rate = trial["c"].T
            t = np.arange(1, T + 1)
            z = (weight / 100 - 0.2 - 0.6 * np.minimum((t - 1) / 20, 1)) / 0.02
            self.assertLess(abs(z).max(), 5)
            self.assertGreater(z.std(), 0.5)
            np.testing.assert_allclose(kind, kind[0])  # one of two words
            np.testing.assert_allclose(rate, np.where(t < 16, 0.1, 1))
            value = -abs(trial["x"][:, 0] - weight / 50) - 0.1
            np.testing.assert_allclose(trial["f"], value, atol=1e-12)
            np.testing.assert_array_equal(trial["objective"], trial["f"])
            for column in ("instantaneous_regret", "simple_regret", "cumulative_regret"):
                self.assertTrue(np.isnan(trial.get(column, np.nan)).all())
            sums.setdefault(trial["algorithm"], []).append(value[N0:].mean())
        self.assertGreater(np.mean(sums["known"]), np.mean(sums["blind"]))
        for old, new, says in (("control: announced", "control: simulator", "that of contexts which are drawn"),
                               ('"point(0.9)", ', "", "has 2 laws for 3 contexts"),
                               ("seconds: 0.001", "optimum: 0", "every evaluation has its own"),
                               ("point(2)", "point(x)", "column 28"),
                               ("cgp_ucb", "erbo", "one that is announced")):
            self.refused(STUDY + OWN.replace(old, new), says)

    def test_width_of_the_theory(self):
        """beta_t = 2 log(|X| |C| t^2 pi^2/(6 delta)) on finite designs and contexts."""
        head = STUDY.replace(f"iterations: {T - N0}", "iterations: 3").replace(f"seeds: {SEEDS}", "seeds: 1")
        for trial in self.results(head + """\
  - {name: gp_path_context, label: finite, setting: announced, levels: 12}
algorithms:
  - {name: cgp_ucb, beta: theory, delta: 0.05}
""")["finite"]:
            pairs = 12 * 12
            t = np.arange(1, 4)
            np.testing.assert_allclose(trial["confidence"][N0:], 2 * np.log(pairs * t**2 * np.pi**2 / (6 * 0.05)))

    def refused(self, text, *words):
        super().refused("run", self.write("bad.yaml", text), "-o", self.folder / "bad.h5", "-quiet", says=words, lines=None)

    def test_what_does_not_fit_is_refused(self):
        moving, announced = MOVING.split("algorithms:")[0], ANNOUNCED.split("algorithms:")[0]
        self.refused(announced + "algorithms: [erbo]\n", "one that is announced")
        self.refused(announced + "algorithms: [sbo_kde]\n", "a context that nature draws")
        self.refused(moving + "algorithms: [cgp_ucb]\n", "'context: before'")
        self.refused(moving.replace("  count_initial", "  stop_regret: 0.1\n  count_initial")
                     + "algorithms: [erbo]\n", "needs one objective for all evaluations")
        self.refused(moving.replace("  count_initial", "  workers: 2\n  count_initial") + "algorithms: [gp_ucb]\n",
                     "it takes 'workers: 1'")
        self.refused(moving + "algorithms: [{name: erbo, forecast_error: 0.1}]\n", "given 'centre'")
        self.refused(moving + 'algorithms: [{name: erbo, centre: "exponential(1)", forecast_error: 0.1}]\n',
                     "'forecast_error' moves normal")
        self.refused(moving + 'algorithms: [{name: erbo, centre: "jump(normal(0, 1), 9, exponential(1))", '
                     "forecast_error: 0.1}]\n", "'forecast_error' moves normal")
