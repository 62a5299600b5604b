"""The studies of experiments/scale in their smoke versions, and the programs that read them."""
import subprocess
import sys

from regatta_test import HERE, REGATTA, RegattaTest, environment, main, regatta

SCALE = HERE.parents[1] / "experiments" / "scale"


class Scale(RegattaTest):
    def call(self, *command, **variables):
        done = subprocess.run([*map(str, command)], env={**environment(), **variables},
                              capture_output=True, text=True, timeout=200)
        self.assertEqual(done.returncode, 0, f"{done.stdout}\n{done.stderr}")
        return done.stdout

    def test_scaling_studies_as_they_are_submitted(self):
        out = self.call("bash", SCALE / "submit.sh", RANKS="2", SMOKE="_smoke", REGATTA=REGATTA,
                        STUDIES=str(SCALE), OUT=str(self.folder), PYTHON=sys.executable,
                        LAUNCH="mpirun --oversubscribe -n")
        lines = [line.split() for line in out.splitlines()]
        for row in (["1", "3200"], ["2", "3200"], ["1", "3000"], ["2", "3780"]):
            self.assertTrue(any(line[:2] == row for line in lines), f"{row}\n{out}")
        self.assertEqual(sum(line[:2] in (["1", "8"], ["2", "8"]) for line in lines), 4, out)
        again = self.call("bash", SCALE / "submit.sh", RANKS="2", SMOKE="_smoke", REGATTA=REGATTA,
                          STUDIES=str(SCALE), OUT=str(self.folder), PYTHON=sys.executable,
                          LAUNCH="mpirun --oversubscribe -n")
        self.assertIn("(0 run now", again)

    def test_the_full_scaling_studies_fit_64_ranks_and_no_fewer(self):
        for study in ("strong", "weak"):
            path = SCALE / f"{study}.yaml"
            self.assertIn("teams of up to 64", self.run_ok("plan", path, "-ranks", 64, "-per-host",
                                                           64, "-memory", 192))
            code, _, err = regatta("plan", path, "-ranks", 32, "-memory", 192)
            self.assertEqual(code, 2)
            self.assertIn("64 is more than the 32 ranks of this job", err)

    def test_studies(self):
        for name in ("surrogate", "paths", "gain"):
            self.run_ok("run", SCALE / f"{name}_smoke.yaml", "-o", self.folder / f"{name}.h5",
                        "-quiet", "-strict", ranks=2)

    def test_growth(self):
        study, output = SCALE / "horizon_smoke.yaml", self.folder / "horizon.h5"
        self.run_ok("run", study, "-o", output, "-quiet", ranks=2)
        self.run_ok("bounds", study, "-o", self.folder / "bounds.csv")
        out = self.call(sys.executable, SCALE / "growth.py", output, self.folder / "bounds.csv")
        rows = [line.split() for line in out.splitlines() if line.split()[:1] == ["60"]]
        self.assertEqual(len(rows), 2, out)
        for row in rows:
            regret, greedy, gamma, ratio, bound, exponent = (float(row[k]) for k in
                                                             (1, 3, 5, 6, 7, 8))
            self.assertTrue(0 < regret < bound and 0 < greedy <= gamma and 0 <= exponent <= 1, out)
            self.assertAlmostEqual(ratio, regret / (60 * gamma) ** 0.5, delta=0.01)


if __name__ == "__main__":
    main()
