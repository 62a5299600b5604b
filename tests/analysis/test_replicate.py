"""More trials for open claims: stages of a study, when to stop, and the command on a small study, on one and two ranks
and interrupted."""
import os
import subprocess
import unittest
import unittest.mock

import common
import synthetic
from common import run
from regatta_analysis import launch, load, study
from regatta_analysis.claims import checks, claims, forms, replicate, stages, verdicts
from regatta_analysis.claims.grades import CONTRADICTED, OPEN, SHOWN
from regatta_analysis.load.errors import InputError

REGATTA = os.environ.get("REGATTA", "")

STUDY = """# A race of three.
study: race
seed: 3
seeds: 8                        # few
common: {iterations: 6, initial_points: 3, surrogate: {fit: fixed, length_scale: 0.2}}
problems: [{name: branin, label: Branin}, {name: ackley, dim: 2, label: Ackley}]
algorithms: [{name: random, label: Random}, {name: ei, label: EI},
             {name: gp_ucb, label: UCB, beta: fixed, value: 4}]
"""
CLAIMS = """
claims:
  - id: A
    where: here
    claim: EI beats random search on Ackley, soon.
    checks: [{kind: better, who: EI, against: Random, on: race/Ackley, value: {at: 4}}]
  - id: B
    where: here
    claim: The first values are not all alike.
    checks: [{kind: within, who: UCB, on: race/Branin, value: {metric: simple, at: 0}, low: 0.1}]
"""


class Stages(common.Case):
    def test_trials_have_the_stage_at_which_they_were_added(self):
        more = "replicate: [{algorithm: EI, seeds: 9}]\n"
        for head, seeds, instances, expected in (
                ("seeds: [5, 2]", [5, 2, 6, 7, 8, 9, 10, 11, 12], [0] * 9, [1, 1, 2, 2, 3, 3, 3, 3, 4]),
                ("seeds: {first: 4, count: 1}\ninstances: 3", [4] * 7, range(7), [1, 1, 1, 2, 2, 2, 3]),
                ("seeds: 2\ninstances: 2", [0, 2, 1, 2], [1, 1, 3, 3], [1, 2, 2, 2]),
                ("seeds: 2\ninstances: paired", [0, 1, 2, 4], [0, 1, 2, 4], [1, 1, 2, 3])):
            self.assertEqual(stages.of_trials(f"{head}\n{more}", seeds, instances).tolist(), expected)
        self.assertEqual(stages.of_trials("seeds: 2\n", [0, 9], [0, 0]).tolist(), [1, 1])

    def test_the_study_file_says_what_was_added(self):
        cells = {("P", "EI", "a=1"): ("seeds", 4), ("Ö \"Q\"", "EI", ""): ("instances", 6)}
        text = replicate.grown("# first\nreplicate:\n  - {algorithm: EI,\n     seeds: 3}\n\n# second\nseeds: 2\n", cells)
        self.assertTrue(text.startswith("# first\n\n# second\nseeds: 2\nreplicate:"))
        self.assertEqual(stages.sizes(text)[2], [
            {"algorithm": "EI", "seeds": 3}, {"problem": "P", "algorithm": "EI", "swept": "a=1", "seeds": 4},
            {"problem": "Ö \"Q\"", "algorithm": "EI", "instances": 6}])
        self.assertEqual(replicate.grown(text, cells), text)
        self.assertEqual(stages.replicated(text, []), "# first\n\n# second\nseeds: 2\n")

    def test_more_seeds_or_instances_in_whatever_form_they_stand(self):
        for before, key, number, after in (
                ("seeds: 8   # few\ninstances: 2\n", "seeds", 20, "seeds: 20   # few\ninstances: 2\n"),
                ("seeds: 8\ninstances: 2 # draws\n", "instances", 5, "seeds: 8\ninstances: 5 # draws\n"),
                ("study: s", "seeds", 3, "study: s\nseeds: 3\n"),
                ("{study: s, seeds: 2}", "seeds", 3, "{study: s, seeds: 3}"),
                ("seeds: [4, 1]\nseed: 2\n", "seeds", 4, "seeds: [4, 1, 5, 6]\nseed: 2\n"),
                ("seeds:\n- 4\n- 1\n# end\nseed: 2\n", "seeds", 3, "seeds: [4, 1, 5]\nseed: 2\n"),
                ("seeds: {first: 3, count: 2}\n", "seeds", 4, 'seeds: {"first": 3, "count": 4}\n'),
                ("seeds: 2\ninstances: paired\n", "seeds", 4, "seeds: 4\ninstances: paired\n"),
                ("seeds: 8\n", "seeds", 8, "seeds: 8\n")):
            self.assertEqual(stages.raised(before, key, number), after)
        more = 'seeds: 4\nreplicate:\n  - {algorithm: EI, seeds: 9}\n  - {algorithm: TS, seeds: 7}\n'
        self.assertEqual(stages.sizes(stages.raised(more, "seeds", 8)), (list(range(8)), 1, [{"algorithm": "EI", "seeds": 9}]))
        for text, key, number, words in (("seeds: 8\n", "seeds", 7, "the study has 8 seeds, and --seeds only adds some"),
                                         ("seeds: 2\ninstances: paired\n", "instances", 9, "give --seeds"),
                                         ("seeds: &n 4\ninstances: *n\n", "instances", 9, "change it by hand")):
            with self.assertRaisesRegex(InputError, words):
                stages.raised(text, key, number)

    def test_a_stage_is_told_in_a_line_whatever_is_swept(self):
        cells = {("s", ("P", method, swept)): ("seeds", 20) for swept in ("", "a=1", "a=2") for method in ("EI", "TS")}
        self.assertEqual(replicate._told(cells), "EI, TS (s, P, 2 settings) to 20 seeds")

    def test_the_cheapest_stages_that_the_budget_pays_for(self):
        costs = {"A": 2.0, "C": 0.5, "D": 1.0}
        self.assertEqual(replicate.affordable(costs, 2.0), ["C", "D"])
        self.assertEqual(replicate.affordable(costs, 0.1), [])
        self.assertEqual(replicate.affordable(costs, 9.0), ["C", "D", "A"])


class Stops(common.Case):
    """A claim gets no more trials when none can change its grade, or when there are enough."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        synthetic.write(cls.directory / "s.h5", [
            synthetic.made_up("P", {"EI": 1.0, "TS": 1.0, "Random": 4.0, "US": 1.02}, seeds=10, noise=0.4)])
        cls.texts = {"s": "study: s\nseeds: 10\n"}

    def needs(self, *found, enough=None, **check):
        studies = claims.Studies({"s": self.directory / "s.h5"})
        if enough:
            studies.enough = lambda _: enough
        check = {"kind": "better", "who": "EI", "on": "s", "value": {"over": [1, 40]}} | check
        claim = {"id": "A", "where": "x", "claim": "y", "checks": [check, *found]}
        verdict = verdicts.evaluate("p", claim, studies)
        return verdict, {cell[1]: number for (_, cell), number in replicate.needs(verdict, studies, self.texts).items()}

    def test_only_the_cells_of_open_comparisons_grow(self):
        verdict, cells = self.needs(against=["Random", "US"])
        self.assertEqual([item.state for item in verdict.first.items], [SHOWN, OPEN])
        self.assertEqual(cells, {"EI": ("seeds", 20), "US": ("seeds", 20)})

    def test_none_where_no_completion_changes_the_grade(self):
        """Most comparisons are decided already; the open one makes no difference."""
        for who, against, grade in (("EI", ["Random", "US"], SHOWN), ("Random", ["EI", "TS", "US"], CONTRADICTED)):
            verdict, cells = self.needs(who=who, against=against, combine="any" if who == "EI" else "every")
            self.assertEqual((verdict.grade, verdict.settled(), cells), (grade, True, {}))

    def test_none_where_there_are_enough(self):
        self.assertEqual(self.needs(against="US", enough=10)[1], {})
        self.assertEqual(set(self.needs(against="US", enough=11)[1]), {"EI", "US"})

    def test_kinds_for_a_fixed_number_of_trials_do_not_see_those_that_others_got(self):
        """A claim may get trials because of what it showed. Claims about means see only those that were planned, unless
        the author of the study wrote the further ones down."""
        found = load(self.directory / "s.h5")
        grown = stages.replicated("study: s\nseeds: 6\n", [{"algorithm": "EI", "seeds": 10}])
        fixed = [{"kind": "lead", "who": "EI", "over": [1, 40]}, {"kind": "growth", "who": "EI", "low": 0.1},
                 {"kind": "trend", "who": "EI", "metric": "cumulative", "grows": True}, {"kind": "mean", "who": "EI", "low": 0},
                 {"kind": "reach", "who": "EI", "target": 9, "by": 9}]
        self.assertEqual({check["kind"] for check in fixed}, {*forms.FIXED, "reach"})
        for text, fewer in ((grown, 6), (grown.replace(stages.NOTE, ""), 10)):
            studies = claims.Studies({"s": self.directory / "s.h5"})
            found.study = text
            studies._raw["s"] = found
            found.__dict__["_remembered"].clear()
            for check in (*fixed, {"kind": "within", "who": "EI", "low": 0}):
                item, = checks.run(check | {"on": "s"}, studies).items
                self.assertEqual(item.n, 10 if check["kind"] == "within" else fewer, check["kind"])

    def test_a_pooled_claim_grows_with_all_its_comparisons(self):
        verdict, cells = self.needs(against=["US", "TS"], combine="pooled")
        self.assertEqual((verdict.settled(), set(cells)), (False, {"EI", "US", "TS"}))


@unittest.skipUnless(REGATTA, "no program")
class Command(common.Case):
    def setUp(self):
        super().setUp()
        (self.scratch / "race.yaml").write_text(STUDY)
        (self.scratch / "claims.yaml").write_text(CLAIMS)

    def replicate(self, folder, launch, budget=1.0):
        """(exit code, output) of a replication in a folder."""
        said, work = [], replicate.Work("race", folder / "race.yaml", folder / "race.h5")
        return replicate.Replication([work], folder / "claims.yaml", budget, launch, said.append).run(), said

    def folder(self, name):
        """A new one with study and claims."""
        made = self.scratch / name
        made.mkdir()
        for file, content in (("race.yaml", STUDY), ("claims.yaml", CLAIMS)):
            (made / file).write_text(content)
        return made

    def left(self, folder):
        """The files that it leaves."""
        checksum = subprocess.run([REGATTA, "checksum", folder / "race.h5"], capture_output=True, check=True)
        return (folder / "race.yaml").read_text(), checksum.stdout.split()[0]

    def test_until_decided_on_any_ranks_and_interrupted(self):
        ended, said = self.replicate(self.scratch, [], 0.0)
        self.assertRegex("\n".join(said), r"A: open; its next stage takes about \S+ core-hours, 0 of 0 are left")
        self.assertIn("1 undecided", ended)
        self.assertEqual((self.scratch / "race.yaml").read_text(), STUDY)
        ended, said = self.replicate(self.scratch, [])
        self.assertIn("2 shown", ended)
        self.assertRegex("\n".join(said), r"1 of 2 claims are open and get 16 more trials: about \S+ core-hours, "
                         r"1 of 1 are left\n  A: EI, Random \(race, Ackley\) to 16 seeds")
        text, checksum = self.left(self.scratch)
        self.assertTrue(text.startswith(STUDY))
        self.assertNotRegex(text, r'(UCB|Branin).*"seeds"', "what is settled gets no more")
        results = load(self.scratch / "race.h5")
        seeds = [one.group("Ackley").cells["EI"].n for one in (results, stages.planned(results))]
        self.assertTrue(seeds[0] >= 16 and seeds[1] == 8, "results files tell what was added")
        other = self.folder("other")
        command, real, runs = ["mpirun", "-n", "2"], launch.run, []

        def interrupted(words):
            runs.append(words)
            if len(runs) == 1:
                return real(words)
            real([*words, "-part", "1/2"])  # half of the second stage
            raise KeyboardInterrupt
        with unittest.mock.patch.object(launch, "run", interrupted), self.assertRaises(KeyboardInterrupt):
            self.replicate(other, command)
        self.assertTrue(list((other / "race.h5.d").glob("*.h5")))
        again, said = self.replicate(other, command)
        self.assertEqual(said[0], "race: 8 trials to run")
        self.assertEqual((again, *self.left(other)), (ended, text, checksum))

    def test_a_study_that_is_too_small_for_its_claims_runs_and_says_so(self):
        """The user may be after other things. With --until-decided, these claims get trials."""
        file, out, said = self.scratch / "race.yaml", self.scratch / "race.h5", []
        file.write_text(STUDY.replace("seeds: 8 ", "seeds: 2 "))
        with unittest.mock.patch.object(study, "say", said.append), unittest.mock.patch.object(study, "bounds"):
            self.assertIsNone(study.run(file, out, []))
            self.assertEqual(said, ["  note: no outcome of 2 trials of a cell can decide claims A, B; it takes 7 (`seeds`)"])
            self.assertIsNone(study.run(file, out, [], budget=0.0))
        self.assertFalse([text for text in said[1:] if "note: " in text])
        self.assertEqual(len(load(out).trials), 12)

    def test_claims_that_lack_the_results_of_a_study_get_no_trials(self):
        path = self.scratch / "claims.yaml"
        (self.scratch / "absent.yaml").touch()
        path.write_text(CLAIMS.replace("[{kind: better", "[{kind: within, who: EI, on: absent, low: 0}, {kind: better"))
        ended, said = self.replicate(self.scratch, [])
        self.assertIn("1 shown, 1 ", ended)
        self.assertEqual(said, ["race: 48 trials to run"])

    def test_refusals(self):
        study, out = self.scratch / "race.yaml", self.scratch / "race.h5"
        wrong = self.scratch / "wrong.yaml"
        wrong.write_text(STUDY.replace("study: race", "study: wrong\nsedes: 3"))
        strange = self.scratch / "strange.yaml"
        strange.write_text(CLAIMS.replace("race/", "horse/"))
        for arguments, words in (([study, "-o", out, "--budget", "much"], "--budget"),
                                 ([study, "-o", out, "--claims", self.scratch / "none.yaml"], "none.yaml"),
                                 ([study, "-o", out, "--claims", strange], "no claim speaks of race"),
                                 ([self.scratch / "no.yaml", "-o", out], "no.yaml: no such file"),
                                 ([wrong, "-o", self.scratch / "race.h5", "--launch", ""], "wrong.yaml:3:1: unknown key"),
                                 ([study, "-o", out, "--launch", "no_such_launcher"], "no_such_launcher")):
            code, _, error = run("replicate", *arguments)
            self.assertEqual((code, error.count("\n")), (2, 1), error)
            self.assertIn(words, error)
        self.assertFalse(out.exists())
