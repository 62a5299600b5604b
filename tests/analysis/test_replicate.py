"""More trials for undecided claims: stages of a study, looks that stick, and the command on a small study, on one and
two ranks and interrupted."""
import math
import os
import subprocess
import unittest
import unittest.mock

import common
import numpy as np
import synthetic
from regatta_analysis import load
from regatta_analysis.claims import checks, claims, replicate, stages
from regatta_analysis.claims.outcome import NO, OPEN, YES, Item, Outcome, decided
from test_cli import run

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

    def test_a_stage_is_told_in_a_line_whatever_is_swept(self):
        cells = {("s", ("P", method, swept)): ("seeds", 20) for swept in ("", "a=1", "a=2") for method in ("EI", "TS")}
        self.assertEqual(replicate._told(cells), "EI, TS (s, P, 2 settings) to 20 seeds")


    def test_nothing_is_spent_on_what_the_budget_does_not_decide(self):
        costs = {"A": 2.0, "B": math.inf, "C": 0.5, "D": 1.0}
        self.assertEqual(replicate.affordable(costs, 2.0), ["C", "D"])
        self.assertEqual(replicate.affordable(costs, 0.1), [])
        self.assertEqual(replicate.affordable(costs, 9.0), ["C", "D", "A"])

    def test_an_added_stage_that_is_not_whole_is_not_looked_at(self):
        path, check = self.scratch / "s.h5", {"kind": "within", "who": "EI", "on": "s", "low": 0.0}
        synthetic.write(path, [synthetic.problem("P", ["EI"], seeds=4, queries=2)])
        for complete, trials in ((True, 4), (False, 2)):
            results = load(path)
            results.attributes["study"] = results.study = "seeds: 2\nreplicate: []\n"
            results.complete = results.attributes["complete"] = complete
            outcome = checks.run(check, claims.Studies({"s": path}, raw={"s": results}))
            self.assertEqual(outcome.items[0].n, trials)


class Stub:
    """Studies of which a check sees (trials, p that it holds, p that it fails, trials that its methods have in common
    where those are fewer) after each stage."""

    def __init__(self, found):
        self.found, self.stage, self.missing, self.seen = found, 1, [], []

    def stages(self, _):
        return len(self.found)

    def upto(self, stage):
        self.stage = stage
        return self

    def signature(self, _):
        return self.found[self.stage - 1][0]


def stub(_, studies):
    trials, holds, fails, *common = studies.found[studies.stage - 1]
    n = common[0] if common else trials
    studies.seen.append(studies.stage)
    items = [Item("p", n=n, units=n, holds=holds, fails=fails, level=studies.look.level)]
    return Outcome(decided(items, "all", studies.look), "", "", items)


class Looks(common.Case):
    def decide(self, *found):
        studies = Stub(found)
        with unittest.mock.patch.dict(checks.KINDS, stub=stub):
            outcome = checks.run({"kind": "stub"}, studies)
        return outcome.verdict, outcome.look, studies.seen, outcome.items[0]

    def test_each_look_has_a_tenth_of_the_level_and_the_first_that_decides_stays(self):
        self.assertEqual(self.decide((8, 0.009, 1.0))[:3], (YES, 1, [1]))
        self.assertEqual(self.decide((8, 0.02, 1.0), (16, 0.002, 1.0))[:2], (OPEN, 2))
        verdict, look, seen, item = self.decide((8, 0.02, 1.0), (16, 0.0009, 1.0), (32, 1.0, 1e-9))
        self.assertEqual((verdict, look, seen), (YES, 2, [1, 2]))
        self.assertAlmostEqual(item.level, 0.001)
        self.assertEqual(self.decide((8, 0.5, 0.5), (16, 0.5, 0.5), (32, 1.0, 9e-5))[:2], (NO, 3))

    def test_no_new_trials_or_too_few_are_no_look(self):
        self.assertEqual(self.decide((8, 0.02, 1.0), (8, 0.02, 1.0), (16, 0.0009, 1.0))[1:3], (2, [1, 3]))
        self.assertEqual(self.decide((8, 0.02, 1.0), (12, 0.02, 1.0, 8), (16, 0.0009, 1.0))[:2], (YES, 2))
        self.assertEqual(self.decide((8, 0.02, 1.0), (12, 0.009, 1.0, 8))[:2], (OPEN, 1))
        self.assertEqual(self.decide((2, 1e-9, 1.0), (4, 1e-9, 1.0), (8, 0.009, 1.0))[:2], (YES, 1))

    def test_the_same_trials_are_known_whatever_else_is_in_their_table(self):
        def items(*values):
            return [Item("p", n=15, value=value) for value in values]
        before = items(0.3, np.nan)
        self.assertTrue(checks._same_trials(items(0.1 + 0.2, np.nan), before))
        self.assertFalse(checks._same_trials(items(0.3 + 1e-6, np.nan), before))
        self.assertFalse(checks._same_trials(items(0.3), before))
        self.assertFalse(checks._same_trials([Item("p", n=16, value=0.3), before[1]], before))


@unittest.skipUnless(REGATTA, "no program")
class Command(common.Case):
    def setUp(self):
        super().setUp()
        (self.scratch / "race.yaml").write_text(STUDY)
        (self.scratch / "claims.yaml").write_text(CLAIMS)

    def replicate(self, folder, launch, budget=1.0):
        """(how it ended, what was said) of a replication in a folder."""
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
        """What it leaves behind."""
        checksum = subprocess.run([REGATTA, "checksum", folder / "race.h5"], capture_output=True, check=True)
        return (folder / "race.yaml").read_text(), checksum.stdout.split()[0]

    def test_until_decided_on_any_ranks_and_interrupted(self):
        ended, said = self.replicate(self.scratch, [], 0.0)
        self.assertRegex("\n".join(said), r"A: undecided; about \S+ core-hours would decide it, 0 of 0 are left")
        self.assertIn("1 undecided", ended)
        self.assertEqual((self.scratch / "race.yaml").read_text(), STUDY)
        ended, said = self.replicate(self.scratch, [])
        self.assertIn("2 reproduced", ended)
        self.assertRegex(ended, r"A: reproduced.* it took 3 looks, the last at 32 trials")
        self.assertNotRegex(ended, r"B: .*looks")
        self.assertRegex("\n".join(said), r"1 of 2 claims are undecided and get 16 more trials: about \S+ core-hours, "
                         r"1 of 1 are left\n  A: EI, Random \(race, Ackley\) to 16 seeds")
        text, checksum = self.left(self.scratch)
        self.assertTrue(text.startswith(STUDY))
        self.assertNotRegex(text, r'(UCB|Branin).*"seeds"', "what is settled gets no more")
        other = self.folder("other")
        launch, real, runs = ["mpirun", "--oversubscribe", "-n", "2"], replicate._run, []

        def interrupted(words):
            runs.append(words)
            if len(runs) == 1:
                return real(words)
            real([*words, "-part", "1/2"])  # half of the second stage
            raise KeyboardInterrupt
        with unittest.mock.patch.object(replicate, "_run", interrupted), self.assertRaises(KeyboardInterrupt):
            self.replicate(other, launch)
        self.assertTrue(list((other / "race.h5.d").glob("*.h5")))
        again, said = self.replicate(other, launch)
        self.assertEqual(said[0], "race: 8 trials to run")
        self.assertEqual((again, *self.left(other)), (ended, text, checksum))

    def test_claims_that_lack_the_results_of_a_study_get_no_trials(self):
        path = self.scratch / "claims.yaml"
        path.write_text(CLAIMS.replace("[{kind: better", "[{kind: within, who: EI, on: absent, low: 0}, {kind: better"))
        ended, said = self.replicate(self.scratch, [])
        self.assertIn("1 reproduced, 0 depends on a setting, 0 not reproduced, 0 near tie, 1 undecided", ended)
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


if __name__ == "__main__":
    unittest.main()
