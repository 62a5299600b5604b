"""Recipes: the container, the Apptainer definition and the CI workflow fit run.sh and each other."""
import pathlib
import re
import shutil
import subprocess
import unittest

from regatta_test import main

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = r"[a-z0-9][a-z0-9+.-]+"


def installed(text):
    """Package lists of the apt-get lines of a recipe, in order."""
    text = text.replace("\\\n", " ")
    return [set(re.findall(rf"(?<= )(?!--)({PACKAGE})", " " + found))
            for found in re.findall(r"apt-get install -y --no-install-recommends ([^&\n]*)", text)]


class Recipes(unittest.TestCase):
    def setUp(self):
        self.docker = (ROOT / "Dockerfile").read_text()
        self.apptainer = (ROOT / "apptainer.def").read_text()
        listed = re.search(r"packages=\((.*?)\)", (ROOT / "run.sh").read_text(), re.S)[1]
        self.packages = set(listed.split())

    def test_packages_are_those_of_run_sh(self):
        build, final = installed(self.docker)
        self.assertEqual(installed(self.apptainer), [build, final])
        wanted = {p for p in self.packages if not p.startswith("python3")} - {"libcmocka-dev", "hdf5-tools"}
        self.assertEqual(build, wanted)
        python = {p for p in self.packages if p.startswith("python3")}
        self.assertEqual({p for p in final if p.startswith("python3")}, python)

    @unittest.skipUnless(shutil.which("apt-cache"), "no apt-cache")
    def test_packages_exist(self):
        if 'VERSION_ID="12"' not in pathlib.Path("/etc/os-release").read_text():
            self.skipTest("not Debian 12")
        wanted = set.union(*installed(self.docker))
        known = subprocess.run(["apt-cache", "show", *wanted], capture_output=True, text=True).stdout
        self.assertEqual(wanted - set(re.findall(r"(?m)^Package: (.*)$", known)), set())

    def test_users_are_not_root(self):
        self.assertIn("\nUSER regatta\n", self.docker)

    def test_workflow(self):
        try:
            import yaml
        except ModuleNotFoundError:
            self.skipTest("no PyYAML")
        jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]
        for name, job in jobs.items():
            for step in job["steps"]:
                command = step.get("run", "./run.sh")
                self.assertTrue(command.startswith(("./run.sh", "apt-get update &&", "docker ")), (name, command))
        self.assertEqual(jobs["debian"]["strategy"]["matrix"]["compiler"], ["gcc", "clang"])

    def test_container_is_built(self):
        builder = next(filter(shutil.which, ("buildah", "podman")), None)
        works = builder and subprocess.run([builder, "info"], capture_output=True).returncode == 0
        if not works or subprocess.run([builder, "pull", "docker.io/library/debian:12-slim"],
                                       capture_output=True).returncode:
            self.skipTest("containers can't be built here (buildah or podman, and the image debian:12-slim)")
        subprocess.run([builder, "build", "-t", "regatta-test", ROOT], check=True)


if __name__ == "__main__":
    main()
