"""./run.sh release: make the artefacts of a release from the last commit, and check them, offline. CONTRIBUTING.md has
the steps of a release. `--set VERSION` writes the version into every file that has it."""
import argparse
import datetime
import gzip
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from urllib.parse import quote

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = re.compile(r'(?m)^#define RG_VERSION "(.*?)"')
# Where the version stands: its home first. Every (.*?) is the version.
PLACES = {
    "src/regatta/error.h": VERSION.pattern,
    "analysis/regatta/_version.py": r'(?m)^__version__ = "(.*?)"',
    "CITATION.cff": r"(?m)^version: (.*?)$",
    "codemeta.json": r'"version": "(.*?)"',
    "cmake/packaging/conda/meta.yaml": r'{% set version = "(.*?)" %}',
    "cmake/packaging/nix/default.nix": r'(?m)^  version = "(.*?)";',
    "cmake/packaging/spack/package.py": r'(?m)^    version\("(\d.*?)", tag="v(.*?)"\)',
    "CHANGELOG.md": r"(?m)^## (\S+) \(",
}
# The address of the project. Its home is CMakeLists.txt.
ADDRESSES = {
    "CMakeLists.txt": r"(?m)HOMEPAGE_URL (\S+?)\)",
    "CITATION.cff": r'(?m)^repository-code: "(.*?)"',
    "codemeta.json": r'"codeRepository": "(.*?)"',
    "cmake/packaging/spack/package.py": r'(?m)^    homepage = "(.*?)"',
    "analysis/pyproject.toml": r'(?m)^Homepage = "(.*?)"',
    ".reuse/dep5": r"(?m)^Source: (.*?)$",
}


def run(*words, **options):
    """The output of a command; its complaint ends the program."""
    done = subprocess.run([str(word) for word in words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if done.returncode:
        sys.exit(f"{done.stdout[-4000:]}\nrelease: {' '.join(map(str, words[:3]))} ended with exit code {done.returncode}")
    return done.stdout.strip()


def values(places):
    """{path: what stands at its place}; "" if nothing does."""
    found = {path: re.search(pattern, (ROOT / path).read_text()) for path, pattern in places.items()}
    return {path: match[1] if match else "" for path, match in found.items()}


def agree(places, what):
    """The value that stands at all places; the first that differs ends the program."""
    found = values(places)
    home, value = next(iter(found.items()))
    for path, other in found.items():
        if other != value:
            sys.exit(f"release: {path} has the {what} '{other}', {home} has '{value}': ./run.sh release --set writes them")
    return value


def put(places, value):
    """Write a value at all places."""
    for path, pattern in places.items():
        text = (ROOT / path).read_text()
        match = re.search(pattern, text)
        for group in range(match.re.groups, 0, -1):
            text = text[:match.start(group)] + value + text[match.end(group):]
        (ROOT / path).write_text(text)


def set_version(version, date, address):
    """Write version, date and address everywhere."""
    put(PLACES, version)
    if address:
        put(ADDRESSES, address.rstrip("/"))
    log, cite, meta = (ROOT / name for name in ("CHANGELOG.md", "CITATION.cff", "codemeta.json"))
    log.write_text(re.sub(r"(?m)^(## \S+ \().*?\)$", rf"\g<1>{date or 'unreleased'})", log.read_text(), count=1))
    text = re.sub(r"(?m)^date-released: .*\n", "", cite.read_text())
    cite.write_text(re.sub(r"(?m)^(version: .*\n)", rf"\1date-released: {date}\n" if date else r"\1", text))
    text = re.sub(r'(?m)^  "datePublished": .*\n', "", meta.read_text())
    meta.write_text(re.sub(r'(?m)^(  "version": .*\n)', rf'\1  "datePublished": "{date}",' + "\n" if date else r"\1", text))
    print(f"version {version}, {date or 'unreleased'}: {', '.join(PLACES)}")


# ---- the artefacts ---------------------------------------------------------------------------------------------------

def make_source(out, version, commit):
    """The archive of a commit."""
    path = out / f"regatta-{version}.tar.gz"
    words = ["git", "-C", ROOT, "-c", "tar.umask=0022", "archive", "--format=tar", f"--prefix=regatta-{version}/", commit]
    tar = subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout
    path.write_bytes(gzip.compress(tar, 9, mtime=0))
    return path


def make(source, out, scratch, epoch):
    """Debian package and wheel from the source archive alone, in the folder `scratch`."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PIP_", "REGATTA", "CFLAGS"))}
    environment.update(SOURCE_DATE_EPOCH=str(epoch), LC_ALL="C.UTF-8", OMPI_ALLOW_RUN_AS_ROOT="1",
                       OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", ZERO_AR_DATE="1")
    run("tar", "-xzf", source, "-C", scratch)
    tree, = scratch.iterdir()
    build = scratch / "build"
    run("cmake", "-S", tree, "-B", build, *(["-G", "Ninja"] if shutil.which("ninja") else []), "-DCMAKE_INSTALL_PREFIX=/usr",
        "-DREGATTA_TESTS=OFF", "-DREGATTA_REPRODUCIBLE=ON", env=environment)
    run("cmake", "--build", build, "--parallel", os.cpu_count(), env=environment)
    run("cpack", "-G", "DEB", "--config", build / "CPackConfig.cmake", "-B", scratch / "deb", cwd=scratch, env=environment)
    package, = (scratch / "deb").glob("*.deb")
    shutil.copy(package, out)
    run("/usr/bin/python3", "-m", "pip", "--quiet", "wheel", "--no-index", "--no-build-isolation", "--no-deps", "--wheel-dir",
        out, tree / "analysis", env=environment)
    return out / package.name


def libraries(package):
    """(name, version, home, licence) of the Debian packages that the package depends on, by dpkg."""
    depends = run("dpkg-deb", "-f", package, "Depends")
    found = []
    for name in sorted({re.split(r"[ |(]", item.strip())[0] for item in depends.split(",")}):
        said = run("dpkg-query", "-W", "-f", "${Version}\t${Homepage}\t${Architecture}", name).split("\t")
        found.append((name, said[0], said[1] or "NONE", said[2]))
    return found


def sbom(package, source, version, epoch):
    """A list of parts after SPDX 2.3: the source, the package made of it, and the libraries that the package needs."""
    address = values(ADDRESSES)["CMakeLists.txt"]
    digest = hashlib.sha256(source.read_bytes()).hexdigest()

    def part(name, number, home, licence, path=None, reference=None):
        return {"SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "name": name, "versionInfo": number,
                "downloadLocation": "NOASSERTION", "homepage": home, "filesAnalyzed": False,
                "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION",
                **({"packageFileName": path.name, "checksums": [
                    {"algorithm": "SHA256", "checksumValue": hashlib.sha256(path.read_bytes()).hexdigest()}]} if path else {}),
                **({"externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                      "referenceLocator": reference}]} if reference else {})}

    needed = [part(name, number, home, "NOASSERTION", reference=f"pkg:deb/debian/{quote(name)}@{quote(number)}?arch={arch}")
              for name, number, home, arch in libraries(package)]
    parts = [part("regatta", version, address, "BSD-2-Clause AND BSD-3-Clause", source),
             part("regatta-deb", version, address, "BSD-2-Clause AND BSD-3-Clause", package), *needed]
    bonds = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-regatta"), ("SPDXRef-regatta-deb", "GENERATED_FROM", "SPDXRef-regatta"),
             *(("SPDXRef-regatta-deb", "DEPENDS_ON", one["SPDXID"]) for one in needed)]
    created = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"regatta-{version}",
            "documentNamespace": f"{address}/spdx/regatta-{version}-{digest[:16]}",
            "creationInfo": {"created": created, "creators": ["Organization: The Regatta developers", "Tool: run.sh release"]},
            "packages": parts,
            "relationships": [{"spdxElementId": a, "relationshipType": bond, "relatedSpdxElement": b} for a, bond, b in bonds]}


def make_all(out, version, commit, epoch):
    """All artefacts of a commit in an empty folder; returns {name: bytes}."""
    if out.exists() and any(not path.name.startswith(("regatta", "SHA256SUMS")) for path in out.iterdir()):
        sys.exit(f"release: {out} has other files than those of a release")
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    os.umask(0o022)  # files in packages have modes
    source = make_source(out, version, commit)
    with tempfile.TemporaryDirectory(prefix="regatta-release-") as scratch:
        package = make(source, out, pathlib.Path(scratch), epoch)
    (out / f"regatta-{version}.spdx.json").write_text(json.dumps(sbom(package, source, version, epoch), indent=2) + "\n")
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(out.iterdir())]
    (out / "SHA256SUMS").write_text("".join(lines))
    return {path.name: path.read_bytes() for path in sorted(out.iterdir())}


# ---- their checks ----------------------------------------------------------------------------------------------------

def check(out, version):
    """Install the package under a scratch prefix, the wheel beside it, and run the selftest of that."""
    with tempfile.TemporaryDirectory(prefix="regatta-release-") as folder:
        root = pathlib.Path(folder)
        package, = out.glob("*.deb")
        wheel, = out.glob("*.whl")
        run("dpkg-deb", "-x", package, root)
        said = run(root / "usr/bin/regatta", "selftest", env={**os.environ, "REGATTA_PYTHON": "/usr/bin/python3"})
        print(said)
        run("/usr/bin/python3", "-m", "pip", "--quiet", "install", "--no-index", "--no-deps", "--target", root / "wheel", wheel)
        made = run("/usr/bin/python3", "-m", "regatta_analysis", "--version", cwd=root, env={"PYTHONPATH": root / "wheel"})
        if made != f"regatta-analysis {version}":
            sys.exit(f"release: the wheel says '{made}'")
    run("sha256sum", "--check", "--quiet", "SHA256SUMS", cwd=out)
    if shutil.which("lintian"):
        print(run("lintian", "--allow-root", "--fail-on", "error", package) or "lintian: nothing to say")


def publish(out, version, released):
    """Print the commands that tag and publish."""
    address = values(ADDRESSES)["CMakeLists.txt"]
    if not released or "example.org" in address:
        print("Before a release: ./run.sh release --set VERSION --date YYYY-MM-DD --address URL, and commit")
    print(f"""To publish:
  sed -n '/^## {version}/,/^## /{{/^## /d;p}}' CHANGELOG.md | git tag -a v{version} -F -
  git push origin v{version}
  gh release create v{version} --notes-from-tag {out}/*
  twine upload {out}/*.whl
  (Zenodo archives the release and reads .zenodo.json)""")


def main():
    parser = argparse.ArgumentParser(prog="run.sh release", description=__doc__)
    parser.add_argument("--set", metavar="VERSION", help="write this version into all files, and make nothing")
    parser.add_argument("--date", metavar="YYYY-MM-DD", help="with --set: the date of the release")
    parser.add_argument("--address", metavar="URL", help="with --set: the address of the project")
    parser.add_argument("--once", action="store_true", help="make the artefacts once; they are made twice and compared otherwise")
    parser.add_argument("--out", metavar="FOLDER", default="build/release", type=pathlib.Path,
                        help="where the artefacts go (default: build/release); it is emptied first")
    options = parser.parse_args()
    if options.set:
        if not re.fullmatch(r"\d+\.\d+\.\d+", options.set):
            parser.error(f"'{options.set}' is not MAJOR.MINOR.PATCH")
        if options.date and not re.fullmatch(r"\d{4}-\d\d-\d\d", options.date):
            parser.error(f"'{options.date}' is not YYYY-MM-DD")
        return set_version(options.set, options.date, options.address)
    version = agree(PLACES, "version")
    agree(ADDRESSES, "address")
    if changed := run("git", "-C", ROOT, "status", "--porcelain", "--untracked-files=no"):
        parser.error(f"there are changes that are not committed: {changed.splitlines()[0].strip()}")
    commit, epoch = run("git", "-C", ROOT, "log", "-1", "--format=%H %ct").split()
    out = ROOT / options.out
    made = make_all(out, version, commit, int(epoch))
    if not options.once:
        again = make_all(out.with_name(out.name + "-again"), version, commit, int(epoch))
        differ = [name for name in {**made, **again} if made.get(name) != again.get(name)]
        if differ:
            sys.exit(f"release: made twice, these differ: {', '.join(sorted(differ))} ({out}, {out}-again)")
        shutil.rmtree(out.with_name(out.name + "-again"))
        print("made twice: the same bytes")
    check(out, version)
    for name, content in made.items():
        print(f"{len(content):>10}  {name}")
    released = "date-released" in (ROOT / "CITATION.cff").read_text()
    publish(out.relative_to(ROOT) if out.is_relative_to(ROOT) else out, version, released)
    return None


if __name__ == "__main__":
    main()
