"""The package `regatta`: optimisers that talk in the messages of docs/protocol.md."""
import io
import json
import platform
import time
import types
import unittest

import common  # noqa: F401  (the path to the packages)
import regatta

START = {"id": 1, "do": "start", "protocol": 1, "seed": 5, "budget": 6,
         "space": {"names": ["x1"], "kinds": ["real"], "lower": [-1], "upper": [2]},
         "initial": [{"x": [0.5], "y": 1.0}]}


def converse(factory, *requests):
    """The answers to requests, each a function of the answers so far or the request itself."""
    answers = io.StringIO()

    def lines():
        for request in requests:
            said = [json.loads(line) for line in answers.getvalue().splitlines()]
            yield json.dumps(request(said) if callable(request) else request) + "\n"
    regatta.serve(factory, lines(), answers)
    return [json.loads(line) for line in answers.getvalue().splitlines()]


def told(number):
    return lambda said: {"id": number, "do": "tell", "t": number // 2, "x": said[-1]["x"],
                         "y": -(said[-1]["x"][0] - 0.3) ** 2}


def game(n):
    requests = [START]
    for t in range(1, n + 1):
        requests += [{"id": 2 * t, "do": "ask", "t": t}, told(2 * t + 1)]
    return requests


class Serve(unittest.TestCase):
    def test_the_package_shows_its_public_names_alone(self):
        self.assertEqual(dir(regatta), sorted(regatta.__all__))
        others = {name for name, value in vars(regatta).items() if not isinstance(value, types.ModuleType)}
        self.assertEqual({name for name in others if not name.startswith("_")} - set(regatta.__all__), set())
        self.assertFalse(hasattr(regatta, "json"))

    def test_ask_and_tell(self):
        class Probe:
            def __init__(self, start):
                self.start, self.heard = start, []
                print("noise")  # goes to standard error

            def ask(self):
                return regatta.Query([0.25], record={"width": 3})

            def tell(self, x, y, c=None):
                return self.start.initial[0].x

        self.assertEqual(converse(Probe, *game(1)),
                         [{"id": 1, "protocol": 1, "versions": {"python": platform.python_version()}}, {"id": 2, "x": [0.25], "record": {"width": 3.0}},
                          {"id": 3, "recommendation": [0.5]}])

    def test_contexts_that_are_announced(self):
        space = {"names": ["c1"], "kinds": ["real"], "lower": [0], "upper": [1], "control": "announced"}
        ask = {"id": 2, "do": "ask", "t": 1, "c": [0.75]}

        class Follow:
            def __init__(self, start):
                assert start.context.control == "announced"

            def ask(self, c):
                return [2 * c[0]]

            def tell(self, x, y, c=None):
                pass

        class Blind(Follow):
            def ask(self):
                return [0]

        class Several(regatta.Parallel):
            announced = True

            def ask(self, request):
                return [request.c[0]]

        class Unaware(regatta.Parallel):
            pass

        start = {**START, "context": space}
        for factory, x in ((Follow, 1.5), (lambda start: Several(), 0.75)):
            answers = converse(factory, start, ask)
            self.assertTrue(answers[0]["announced"])
            self.assertEqual(answers[1], {"id": 2, "x": [x]})
        for factory, name in ((Blind, "Blind"), (lambda start: Unaware(), "Unaware"),
                              (regatta.minimiser(lambda f, space, seed, budget: None), "a minimiser")):
            answer, = converse(factory, start)
            self.assertEqual(answer, {"id": 1, "retry": False,
                                      "error": f"{name} takes no context that is announced before the decision"})
        self.assertNotIn("announced", converse(lambda start: Several(), START)[0])

    def test_versions_and_the_seconds_of_fits(self):
        class Fitting:
            def __init__(self, start):
                self.work()

            def work(self):
                end = time.process_time() + 0.02
                with regatta.fitting():
                    while time.process_time() < end:
                        pass

            def ask(self):
                self.work()
                self.work()
                return [0.5]

            def tell(self, x, y, c=None):
                pass

        answers = io.StringIO()
        regatta.serve(Fitting, [json.dumps(START), '{"id": 2, "do": "ask", "t": 1}',
                                '{"id": 3, "do": "tell", "t": 1, "x": [0.5], "y": 1}'], answers, {"numpy": "1.24"})
        start, ask, tell = map(json.loads, answers.getvalue().splitlines())
        self.assertEqual(start["versions"]["numpy"], "1.24")
        self.assertAlmostEqual(start["fit"]["cpu"], 0.02, delta=0.008)
        self.assertAlmostEqual(ask["fit"]["cpu"], 0.04, delta=0.012)
        self.assertGreater(ask["fit"]["wall"], 0.03)
        self.assertNotIn("fit", tell)

    def test_an_exception_is_an_answer(self):
        class Broken:
            def __init__(self, start):
                pass

            def ask(self):
                raise ValueError("no idea")

        with self.subTest("ask"):
            self.assertEqual(converse(Broken, *game(1)[:2])[1],
                             {"id": 2, "error": "ValueError: no idea"})
        self.assertIn("error", converse(Broken, {"id": 1, "do": "ask", "t": 1})[0])
        self.assertIn("protocol", converse(Broken, {**START, "protocol": 3})[0]["error"])

    def test_several_open_queries(self):
        heard = []

        class Both(regatta.Parallel):
            def __init__(self, start):
                heard.append((start.workers, start.release, [e.submission for e in start.initial]))

            def ask(self, request):
                heard.append(request)
                return [0.1 * request.submission]

            def tell(self, evaluation):
                heard.append(evaluation)

        pending = [{"submission": 2, "x": [0.2]}]
        said = converse(Both, {**START, "protocol": 2, "workers": 2, "release": "async"},
                        {"id": 2, "do": "ask", "t": 1, "submission": 2, "now": 0.0, "pending": []},
                        {"id": 3, "do": "ask", "t": 2, "submission": 3, "now": 0.5, "pending": pending},
                        {"id": 4, "do": "tell", "t": 2, "submission": 3, "x": [0.3], "y": 1.5, "dispatched": 0.5,
                         "finished": 2.0, "news": 7})
        self.assertEqual(said[0]["protocol"], 2)
        self.assertEqual([a.get("x") for a in said[1:]], [[0.2], [0.1 * 3], None])
        self.assertEqual(heard, [(2, "async", [1]), regatta.Request(2), regatta.Request(3, [regatta.Pending(2, [0.2])], 0.5),
                                 regatta.Evaluation([0.3], 1.5, submission=3, dispatched=0.5, finished=2.0)])
        del heard[:]
        converse(Both, *game(2))
        self.assertEqual([h for h in heard if isinstance(h, regatta.Request)], [regatta.Request(2), regatta.Request(3)])
        self.assertEqual([h.submission for h in heard if isinstance(h, regatta.Evaluation)], [2, 3])

    def test_one_query_at_a_time(self):
        class Sequential:
            def __init__(self, start):
                pass

        for factory, name in ((Sequential, "Sequential"), (regatta.minimiser(lambda *given: None), "a minimiser")):
            said = converse(factory, {**START, "protocol": 2, "workers": 4, "release": "sync"})
            self.assertEqual(said, [{"id": 1, "retry": False, "error": f"{name} takes one query at a time: it needs "
                                                                       "'workers: 1', not 4"}])

    def test_a_minimiser_is_turned_inside_out_and_called_again(self):
        calls = []

        def halves(f, space, seed, budget):
            calls.append((seed, budget))
            values = [f([x]) for x in (space.lower[0], 0.3)]
            assert values[1] < values[0]  # f is what is minimised

        answers = converse(regatta.minimiser(halves), *game(6))
        self.assertEqual([a["x"][0] for a in answers[1::2]], [-1, 0.3] * 3)
        self.assertEqual(calls, [(5, 6), (6, 4), (7, 2)])

    def test_what_a_minimiser_can_not_do_is_said_at_the_start(self):
        finite = {**START, "space": {**START["space"], "points": [[0.0]], "once": True}}
        answer = converse(regatta.minimiser(print), finite)[0]
        self.assertIn("needs a box", answer["error"])

    def test_a_minimiser_that_never_calls_f(self):
        answer = converse(regatta.minimiser(lambda *_: None), *game(1)[:2])[1]
        self.assertIn("without calling f", answer["error"])
