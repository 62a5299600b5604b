"""The wheel takes along experiments/, which stands beside analysis/: study files, figures and claims."""
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

EXPERIMENTS = Path(__file__).resolve().parents[1] / "experiments"


class BuildWithExperiments(build_py):
    def run(self):
        super().run()
        if not self.editable_mode:
            shutil.copytree(EXPERIMENTS, Path(self.build_lib) / "regatta_analysis" / "experiments",
                            ignore=shutil.ignore_patterns("__pycache__", "*.pyc"), dirs_exist_ok=True)


setup(cmdclass={"build_py": BuildWithExperiments})
