"""The examples for users: a program as objective; a plugin, built against an installed Regatta."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
from unittest import mock

import h5py
import numpy as np
import xarray as xr

from regatta_test import HERE, REGATTA, RegattaTest, end, environment, fingerprint, regatta

EXAMPLES = HERE.parents[1] / "experiments" / "examples"
sys.path.insert(0, str(HERE.parents[1] / "analysis"))
import regatta as front  # of Python
from regatta_analysis.load import load

OTHERS = {
    "plain": ("int nothing;", "is not a plug-in of regatta"),
    "old": ("const int rg_plugin = 0;", "was built for plugin interface 0, regatta"),
    "new": ("const int rg_plugin = 99;", "build it again with the headers of this one"),
}


class External(RegattaTest):
    def test_program(self):
        study = EXAMPLES / "external" / "study.yaml"
        output = self.same_bits(study)
        out = self.run_ok("verify", output, "-all", "-study", study)
        self.assertIn("run again: 8 trials, 8 equal in every bit", out)
        out = self.run_ok("eval", "external", "-set", "inputs=temperature real 20 120,"
                          "stirrers integer 1 6,solvent choice water ethanol toluene", "-set",
                          f"program={EXAMPLES / 'external' / 'evaluator.py'}", "-x", "71.5,3,1.5")
        self.assertRegex(out, r"(?m)^f +92$")
        out = self.run_ok("info", output)
        self.assertRegex(out, r"(?m)^best on Reaction: temperature 7[12]\.\d+, stirrers 3, solvent "
                              r"ethanol -> 9[12][.\d]* \(ei, seed \d\)$")
        with h5py.File(output) as results:
            group = results["Reaction"]
            self.assertEqual(list(group["x_name"].asstr()), ["temperature", "stirrers", "solvent"])
            self.assertEqual(group["x_seen"].attrs["choices_solvent"], "water ethanol toluene")
            seen, x = group["x_seen"][()], group["x"][()]
            self.assertTrue((seen[..., 0] == x[..., 0]).all())
            self.assertTrue((seen[..., 1] == np.floor(x[..., 1] + 0.5)).all())
            self.assertTrue((seen[..., 2] == np.minimum(np.floor(x[..., 2]), 2)).all())
            self.assertTrue((seen[..., 1] != x[..., 1]).any())
        for engine in ("h5netcdf", "netcdf4"):
            with xr.open_dataset(output, group="Reaction", engine=engine) as data:
                self.assertEqual(data["x_seen"].coords["x_name"].dims, ("dim_x",))
                self.assertEqual(list(data["x_name"].values), ["temperature", "stirrers", "solvent"])
        data = load(output).data
        best = data.loc[data["f"].idxmax()]
        self.assertEqual((best["x_solvent"], best["x_stirrers"]), ("ethanol", 3))
        named = load(output).xarray("Reaction")
        self.assertEqual(list(named["x_name"].values), ["temperature", "stirrers", "solvent"])

    def test_constraints(self):
        output = self.results_of(EXAMPLES / "external" / "constrained.yaml", "-strict", ranks=2)
        data = load(output).data
        self.assertEqual(set(data.loc[data["row"] < 2, "x_codec"]), {"none", "zstd"})  # as given
        self.assertTrue((data.loc[data["row"] < 2, "x_threads"] == 8).all())
        allowed = (data["constraint_latency"] <= 0) & (data["constraint_memory"] <= 0)
        self.assertTrue((allowed == data["feasible"]).all())
        self.assertTrue((data["f"].isna() == data["failed"]).all() and data["failed"].any())
        self.assertTrue((data["x_level"].notna() == (data["x_codec"] == "zstd")).all())
        best = data[data["feasible"] == 1].groupby("algorithm")["f"].max()
        self.assertGreater(best["constrained_ei"], best["random"])


class Plugin(RegattaTest):
    @classmethod
    def setUpClass(cls):
        """Install what was built, and build the example with it as a user would."""
        cls.place = pathlib.Path(subprocess.run(["mktemp", "-d"], capture_output=True, text=True,
                                                check=True).stdout.strip())
        cls.addClassCleanup(shutil.rmtree, cls.place, ignore_errors=True)
        prefix, build = cls.place / "installed", cls.place / "build"
        env = {k: v for k, v in os.environ.items() if not k.startswith("LD_PRELOAD")}
        for command in (["cmake", "--install", pathlib.Path(REGATTA).parent, "--prefix", prefix],
                        ["cmake", "-S", EXAMPLES / "plugin", "-B", build,
                         f"-DCMAKE_PREFIX_PATH={prefix}"],
                        ["cmake", "--build", build]):
            done = subprocess.run(command, capture_output=True, text=True, env=env)
            if done.returncode:
                raise AssertionError(f"{command}:\n{done.stdout}\n{done.stderr}")
        cls.plugin = build / "libbowl.so"

    def test_run(self):
        study = EXAMPLES / "plugin" / "study.yaml"
        self.refused("plan", study, says=("unknown problem 'bowl'", "unknown algorithm 'corners'"), lines=None)
        self.assertIn("8 trials", self.run_ok("plan", study, "-plugin", self.plugin))
        output = self.same_bits(study, "-plugin", self.plugin, "-strict")
        out = self.run_ok("verify", output, "-all", "-plugin", self.plugin, ranks=2)
        self.assertIn("run again: 8 trials, 8 equal in every bit", out)
        with mock.patch.dict(os.environ, REGATTA=str(REGATTA)):
            options = ["-plugin", str(self.plugin)]
            self.assertEqual(front.plan(str(study), quick=True, options=options)["trials"].sum(), 8)
            self.assertTrue(front.run(str(study), self.folder / "front.h5", ranks=1, quiet=True, options=options).complete)
        self.assertEqual(self.checksum(self.folder / "front.h5"), self.checksum(output))
        hint = r"its trials were made with the plug-in libbowl\.so [0-9a-f]{32}: name that file with"
        for command in (["verify", output], ["plan", study, "-o", output],
                        ["run", study, "-o", output]):
            self.assertRegex(self.refused(*command, lines=None), hint)
        for command in ("info", "status"):
            self.assertRegex(self.run_ok(command, output), hint)
        request = '{"id": 1, "do": "evaluate", "x": [[0.5, 0.5]], "objective": true}\n'
        served = subprocess.run([REGATTA, "serve", "bowl", "-set", "dim=2", "-plugin", self.plugin], input=request,
                                text=True, capture_output=True, env=environment(), check=True).stdout
        value = self.run_ok("eval", "bowl", "-set", "dim=2", "-plugin", self.plugin, "-x", "0.5,0.5")
        self.assertEqual(json.loads(served)["f"][0], float(re.search(r"^f +(\S+)", value, re.M)[1]))
        with h5py.File(output) as results:
            group = results["bowl"]
            for software in group["provenance/software"].asstr():
                self.assertRegex(software, r"; plugin libbowl\.so [0-9a-f]{32}$")
            self.assertNotIn(int(fingerprint(), 16), group["provenance/fingerprint"][:].tolist())
            best = group["simple_regret"][:, -1]
            corners = group["algorithm"].asstr()[:] == "corners"
            self.assertLess(best[~corners].max(), 1e-2)

    def slow_plugin(self):
        """The plug-in, whose objective sleeps for BOWL_MS, and from call BOWL_STUCK on for ever; it
        notes each call of its objective in the file BOWL_CALLS."""
        text = (EXAMPLES / "plugin" / "bowl.c").read_text()
        body = """
  static long calls;
  FILE *file = fopen(getenv("BOWL_CALLS"), "a");
  if (file) fputs("x", file);
  if (file) fclose(file);
  usleep(1000 * (useconds_t)atol(getenv("BOWL_MS")));
  while (++calls >= atol(getenv("BOWL_STUCK"))) sleep(60);
"""
        head, mark, rest = text.partition("static PetscErrorCode bowl_evaluate")
        rest = rest.replace("\n{\n", "\n{\n" + body, 1)
        return self.compile("slow", "#define _GNU_SOURCE\n#include <stdio.h>\n#include <stdlib.h>\n"
                            "#include <unistd.h>\n" + head + mark + rest)

    def compile(self, name, text):
        source, library = self.write(f"{name}.c", text), self.folder / f"{name}.so"
        package, = self.place.rglob("regatta.pc")
        flags = subprocess.run(["pkg-config", "--cflags", package], check=True, capture_output=True,
                               text=True).stdout.split()
        subprocess.run(["cc", "-shared", "-fPIC", source, *flags, "-o", library], check=True)
        return library

    def stuck(self, plugin, stuck, milliseconds, *options):
        """A run whose objective is stuck in call number `stuck`; returns job and study folder."""
        output, calls = self.folder / "stuck.h5", self.folder / "calls"
        calls.unlink(missing_ok=True)
        study = self.write("stuck.yaml", """study: stuck
seeds: 3
common: {iterations: 2, initial_points: 2}
problems: [bowl]
algorithms: [random]
""")
        env = dict(environment(), BOWL_CALLS=str(calls), BOWL_STUCK=str(stuck),
                   BOWL_MS=str(milliseconds))
        job = subprocess.Popen([REGATTA, "run", study, "-plugin", plugin, "-o", output, "-quiet", *options],
                               env=env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(end, job)
        while not calls.exists() or calls.stat().st_size < stuck:
            self.assertIsNone(job.poll())
            time.sleep(0.01)
        return job, f"{output}.d"

    def finished(self, directory):
        found = re.search(r"(?m)^trials +(\d+)", regatta("info", directory)[1])
        return int(found[1]) if found else 0

    def test_killed_in_a_long_evaluation(self):
        """Trials that were finished before an evaluation of unknown length are not lost with it."""
        plugin = self.slow_plugin()
        # four calls make a trial; those before took 0.4 s or no time, now the third trial's first or last
        for stuck, milliseconds in ((9, 400), (9, 0), (12, 0)):
            job, directory = self.stuck(plugin, stuck, milliseconds)
            while self.finished(directory) < 2:
                self.assertIsNone(job.poll())
                time.sleep(0.1)
            job.kill()
            job.communicate()
            self.assertEqual(self.finished(directory), 2)
            shutil.rmtree(directory)

    def test_stopped_in_a_long_evaluation(self):
        """The end of the grace period, or a second TERM, ends an evaluation that does not end itself."""
        plugin = self.slow_plugin()
        for options, again in ((("-grace", "0.5"), False), ((), True)):
            job, directory = self.stuck(plugin, 9, 0, *options)
            job.terminate()
            while again and job.poll() is None:
                time.sleep(0.1)
                job.terminate()
            _, err = job.communicate()
            self.assertEqual(job.returncode, 75, err)
            self.assertIn("a second signal" if again else "did not end in time after the stop", err)
            self.assertIn("its finished trials are committed; the same command resumes", err)
            self.assertEqual(self.finished(directory), 2)
            shutil.rmtree(directory)

    def test_built_again(self):
        """Trials of another build of the plug-in (here one with more bytes) are reported."""
        library, output = self.folder / "bowl.so", self.folder / "out.h5"
        shutil.copy(self.plugin, library)
        text = (EXAMPLES / "plugin" / "study.yaml").read_text().replace("iterations: 12", "iterations: 1")
        command = [self.write("study.yaml", text), "-o", output, "-plugin", library]
        self.run_ok("run", *command)
        self.assertNotIn("another", self.run_ok("plan", *command))
        with open(library, "ab") as file:
            file.write(b"another")
        words = "8 of 8 finished trials were made with another plug-in;"
        _, out, err = regatta("run", *command)
        self.assertIn("(0 run now", out)
        self.assertIn(words, err)
        self.assertIn(words, self.run_ok("plan", *command))
        _, _, err = regatta("run", *command, "-recompute", "ei")
        self.assertIn("4 of 4 finished trials were made with another plug-in", err)
        self.run_ok("run", *command, "-recompute")
        for text in (self.run_ok("plan", *command), self.run_ok("status", output)):
            self.assertNotIn("another", text)

    def test_words(self):
        self.assertIn("bowl", self.run_ok("list", "problems", "-plugin", self.plugin))
        self.assertNotIn("bowl", self.run_ok("list", "problems"))
        self.assertIn("corners", self.run_ok("list", "algorithms", "-plugin", self.plugin))
        self.assertIn("every coordinate of the maximiser",
                      self.run_ok("describe", "bowl", "-plugin", self.plugin))
        out = self.run_ok("eval", "bowl", "-plugin", self.plugin, "-set", "dim=3", "-x",
                          "0.3,0.3,-0.2")
        self.assertRegex(out, r"(?m)^f +0\.75$")

    def test_refused(self):
        for name, (source, reason) in OTHERS.items():
            path = self.write(f"{name}.c", source)
            library = self.folder / f"{name}.so"
            subprocess.run(["cc", "-shared", "-fPIC", "-o", library, path], check=True)
            self.refused("list", "problems", "-plugin", library, says=reason)
        for path in (self.folder / "nowhere.so", self.write("text.so", "no library")):
            self.refused("run", EXAMPLES / "plugin" / "study.yaml", "-plugin", path, "-o", self.folder / "out.h5",
                         says=f"plugin {path} can't be", ranks=2)
        self.refused("list", "problems", "-plugin", self.plugin, "-plugin", self.plugin,
                     says="has a problem 'bowl', but there is one already")
        text = (EXAMPLES / "plugin" / "bowl.c").read_text()
        for kind, name in (("problem", "bowl"), ("algorithm", "corners")):
            twice = self.compile(name, text.replace(f"= {{&{name}, NULL}}", f"= {{&{name}, &{name}, NULL}}"))
            code, _, err = regatta("list", "problems", "-plugin", twice)
            self.assertEqual((code, err), (2, f"regatta: plugin {twice} has two {kind}s '{name}': each needs a name of "
                                           "its own\n"))
