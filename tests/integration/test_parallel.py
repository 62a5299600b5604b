"""Studies with several workers on a simulated clock: the same results on any number of ranks, after a kill, and beside
other methods."""
import subprocess

import h5py
import numpy as np

from regatta_test import RegattaTest, environment, kill, mpirun, wait_until

STUDY = """
study: parallel
seeds: 3
common: {iterations: 14, workers: 4, duration: halfnormal(1.2533141373155001), noise_variance: 0.01,
         crew: {death: exponential(6), repair: point(1)}, maximiser: {raw_samples: 64, restarts: 2}}
problems: [branin, {name: forrester, release: sync, thinking: 0.1}]
algorithms:
  - ts
  - {name: ei, pending: believer}
  - {name: gp_ucb, pending: liar_min}
"""
COLUMNS = ("submission", "worker", "attempts", "n_pending", "dispatched", "finished", "told", "duration", "idle")


class Parallel(RegattaTest):
    def test_same_results_on_any_ranks_and_after_kills(self):
        study = self.write("study.yaml", STUDY)
        sums = []
        for ranks in (1, 2, 3):
            output = self.results_of(study, name=f"on{ranks}.h5", ranks=ranks)
            sums.append(self.checksum(output))
        self.slow_trials(20000)
        output = self.folder / "killed.h5"
        shards, known, kills = self.folder / "killed.h5.d", set(), 0
        for _ in range(3):
            job = subprocess.Popen(mpirun(2, "run", study, "-o", output, "-quiet"), env=environment(),
                                   start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
            committed = wait_until(lambda: set(shards.glob("[0-9]-*")) - known, job)
            kill(job)
            if not committed:  # the last trials were committed and packed at once
                break
            known, kills = known | set(shards.glob("[0-9]-*")), kills + 1
        self.assertGreater(kills, 0, "no trial was committed before a kill")
        self.slow_trials(0)
        self.run_ok("run", study, "-o", output, "-quiet", ranks=2)
        sums.append(self.checksum(output))
        self.assertEqual(len(set(sums)), 1, sums)

    def test_methods_meet_the_same_durations(self):
        study = self.write("study.yaml", STUDY)
        more = self.write("more.yaml", STUDY + "  - random\n")
        few, many = self.folder / "few.h5", self.folder / "many.h5"
        self.run_ok("run", study, "-o", few, "-quiet")
        self.run_ok("run", more, "-o", many, "-quiet")
        with h5py.File(few) as a, h5py.File(many) as b:
            for name in ("branin", "forrester"):
                known = {tuple(row) for row in zip(a[name]["id"], a[name]["checksum"])}
                self.assertLessEqual(known, {tuple(row) for row in zip(b[name]["id"], b[name]["checksum"])})
                first = self.durations(b[name], 0)
                for trial in np.flatnonzero(b[name]["seed"][()] == b[name]["seed"][0]):
                    found = self.durations(b[name], trial)
                    for submission in first.keys() & found.keys():
                        self.assertEqual(first[submission], found[submission])
                self.assertEqual(set(b[name]["release"][()]), {b"async" if name == "branin" else b"sync"})
                self.assertEqual(set(b[name]["workers"][()]), {4})

    def durations(self, group, trial):
        """Durations of the submissions whose first attempt ended well."""
        values = {name: group[name][trial] for name in ("submission", "attempts", "duration")}
        return {s: d for s, a, d in zip(*(values[n] for n in ("submission", "attempts", "duration"))) if a == 1
                and not np.isnan(d)}

    def test_sequential_files_have_none_of_it(self):
        study = self.write("study.yaml", "study: plain\ncommon: {iterations: 3}\nproblems: [branin]\n"
                                         "algorithms: [random]\n")
        output = self.results_of(study, name="plain.h5")
        with h5py.File(output) as file:
            for name in (*COLUMNS, "workers", "release", "makespan", "idle_share", "in_flight", "lost"):
                self.assertNotIn(name, file["branin"])
